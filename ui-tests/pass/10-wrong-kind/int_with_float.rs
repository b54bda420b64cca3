// The twin of `fail/10-wrong-kind/int_with_float.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, y: Tensor<Flex, 1, i32>) {
    let _ = x + y.float();
}

fn main() {}
