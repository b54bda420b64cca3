// The twin of `fail/10-wrong-kind/float_index.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Flex, 2, i32>) {
    let _ = x.gather(1, index);
}

fn main() {}
