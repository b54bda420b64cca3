// The twin of `fail/11-two-backends/matmul.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, y: Tensor<Flex, 2>) {
    let _ = x.matmul(y);
}

fn main() {}
