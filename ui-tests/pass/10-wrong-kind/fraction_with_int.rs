// The twin of `fail/10-wrong-kind/fraction_with_int.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, i32>) {
    let _ = x * 2;
}

fn main() {}
