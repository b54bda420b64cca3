// The twin of `fail/23-rank/conv2d.rs`.
use keyway::module::conv2d;
use keyway::prelude::*;

fn f(x: Tensor<Flex, 4>, w: Tensor<Flex, 4>) {
    let _ = conv2d(x, w, None, Default::default());
}

fn main() {}
