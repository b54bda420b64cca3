// The twin of `fail/10-wrong-kind/f64_with_f32.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, y: Tensor<Flex, 1, f64>) {
    let _ = x / y.cast::<f32>();
}

fn main() {}
