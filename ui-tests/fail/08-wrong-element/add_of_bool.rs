// E0277: `bool` elements have no arithmetic
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, bool>, y: Tensor<Flex, 1, bool>) {
    let _ = x + y;
}

fn main() {}
