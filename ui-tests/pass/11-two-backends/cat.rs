// The twin of `fail/11-two-backends/cat.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, y: Tensor<Flex, 1>) {
    let _ = Tensor::cat(vec![x, y], 0);
}

fn main() {}
