// The twin of `fail/10-wrong-kind/bool_index.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Flex, 1, u8>) {
    let _ = x.select(0, index);
}

fn main() {}
