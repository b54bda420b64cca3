// E0277: `.to_backend(..)` moves
use keyway::prelude::*;

fn add(x: Tensor<LibTorch, 1>, y: Tensor<Flex, 1>) {
    let _ = x + y;
}

fn main() {}
