// E0277: needs an integer element type
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Flex, 2, f32>) {
    let _ = x.gather(1, index);
}

fn main() {}
