// E0277: no tensor holds `String`
use keyway::prelude::*;

fn f(_x: Tensor<Flex, 1, String>) {}

fn main() {}
