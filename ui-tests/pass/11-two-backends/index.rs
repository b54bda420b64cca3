// The twin of `fail/11-two-backends/index.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Flex, 1, i32>) {
    let _ = x.select(0, index);
}

fn main() {}
