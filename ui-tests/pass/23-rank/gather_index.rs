// The twin of `fail/23-rank/gather_index.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Flex, 2, i32>) {
    let _ = x.gather(0, index);
}

fn main() {}
