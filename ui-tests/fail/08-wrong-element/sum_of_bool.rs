// E0277: needs a number type
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, bool>) {
    let _ = x.sum();
}

fn main() {}
