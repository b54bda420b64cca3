// E0277: `.to_backend(..)` moves
use keyway::Dyn;
use keyway::prelude::*;

fn sum(x: Tensor<Dyn, 1>, y: Tensor<Flex, 1>) -> Tensor<Dyn, 1> {
    x + y
}

fn main() {}
