// The twin of `fail/23-rank/reshape.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>) -> Tensor<Flex, 3> {
    x.reshape::<3>([2, 2, 1])
}

fn main() {}
