// E0308: expected `2`, found `3`
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, y: Tensor<Flex, 3>) {
    let _ = x.matmul(y);
}

fn main() {}
