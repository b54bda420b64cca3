// E0308: expected `4`, found `3`
use keyway::module::conv2d;
use keyway::prelude::*;

fn f(x: Tensor<Flex, 3>, w: Tensor<Flex, 4>) {
    let _ = conv2d(x, w, None, Default::default());
}

fn main() {}
