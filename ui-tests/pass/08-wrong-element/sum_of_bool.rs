// The twin of `fail/08-wrong-element/sum_of_bool.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, bool>) {
    let _ = x.int().sum();
}

fn main() {}
