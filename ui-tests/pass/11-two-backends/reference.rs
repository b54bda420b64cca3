// The twin of `fail/11-two-backends/reference.rs`.
use keyway::prelude::*;

fn f(x: &Tensor<Flex, 1>, y: &Tensor<Flex, 1>) {
    let _ = x * y;
}

fn main() {}
