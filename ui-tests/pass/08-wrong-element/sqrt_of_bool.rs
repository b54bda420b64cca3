// The twin of `fail/08-wrong-element/sqrt_of_bool.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, bool>) {
    let _ = x.float().sqrt();
}

fn main() {}
