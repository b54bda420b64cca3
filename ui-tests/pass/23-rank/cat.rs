// The twin of `fail/23-rank/cat.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, y: Tensor<Flex, 2>) {
    let _ = Tensor::cat(vec![x, y], 0);
}

fn main() {}
