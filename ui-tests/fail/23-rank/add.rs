// E0277: `.unsqueeze()` raises the rank
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, y: Tensor<Flex, 1>) {
    let _ = x + y;
}

fn main() {}
