// E0277: is not a checkpointing strategy
use keyway::prelude::*;

fn f(_x: Tensor<Autodiff<Flex, u8>, 1>) {}

fn main() {}
