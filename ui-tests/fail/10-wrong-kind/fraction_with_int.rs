// E0277: needs a float element type
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, i32>) {
    let _ = x * 2.5;
}

fn main() {}
