// E0277: `.cast()` converts
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, i32>) {
    let _ = x * 2.5;
}

fn main() {}
