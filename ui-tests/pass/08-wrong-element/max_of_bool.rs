// The twin of `fail/08-wrong-element/max_of_bool.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, u8>) {
    let _ = x.max();
}

fn main() {}
