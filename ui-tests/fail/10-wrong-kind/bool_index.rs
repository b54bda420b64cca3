// E0277: needs an integer element type
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Flex, 1, bool>) {
    let _ = x.select(0, index);
}

fn main() {}
