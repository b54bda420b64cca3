// E0308: expected `3`, found `2`
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>) -> Tensor<Flex, 3> {
    x.reshape::<2>([2, 2])
}

fn main() {}
