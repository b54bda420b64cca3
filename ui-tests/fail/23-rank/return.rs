// E0308: expected `1`, found `2`
use keyway::prelude::*;

fn rows(x: Tensor<Flex, 2>) -> Tensor<Flex, 1> {
    x.sum_dim(1)
}

fn main() {}
