// E0277: needs a float element type
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, bool>) {
    let _ = x.sqrt();
}

fn main() {}
