// The twin of `fail/11-two-backends/optional_bias.rs`.
use keyway::module::linear;
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, w: Tensor<Flex, 2>, bias: Tensor<Flex, 1>) {
    let _ = linear(x, w, Some(bias));
}

fn main() {}
