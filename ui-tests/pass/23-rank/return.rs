// The twin of `fail/23-rank/return.rs`.
use keyway::prelude::*;

fn rows(x: Tensor<Flex, 2>) -> Tensor<Flex, 1> {
    x.sum_dim(1).squeeze_dim(1)
}

fn main() {}
