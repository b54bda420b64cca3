// The twin of `fail/23-rank/add.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, y: Tensor<Flex, 1>) {
    let _ = x + y.unsqueeze::<2>();
}

fn main() {}
