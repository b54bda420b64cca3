// E0308: expected `2`, found `1`
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Flex, 1, i32>) {
    let _ = x.gather(0, index);
}

fn main() {}
