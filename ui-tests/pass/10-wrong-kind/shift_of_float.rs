// The twin of `fail/10-wrong-kind/shift_of_float.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, i32>) {
    let _ = x.bitwise_left_shift_scalar(1);
}

fn main() {}
