// E0308: expected `2`, found `1`
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, y: Tensor<Flex, 1>) {
    let _ = Tensor::cat(vec![x, y], 0);
}

fn main() {}
