// The twin of `fail/11-two-backends/max_pair.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, y: Tensor<Flex, 1>) {
    let _ = x.max_pair(y);
}

fn main() {}
