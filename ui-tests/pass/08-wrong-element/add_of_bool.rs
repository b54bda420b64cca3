// The twin of `fail/08-wrong-element/add_of_bool.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, bool>, y: Tensor<Flex, 1, bool>) {
    let _ = x.int() + y.int();
}

fn main() {}
