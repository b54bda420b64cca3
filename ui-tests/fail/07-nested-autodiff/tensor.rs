// E0277: `Autodiff` wraps plain backends only
use keyway::prelude::*;

fn f(_x: Tensor<Autodiff<Autodiff<Flex>>, 1>) {}

fn main() {}
