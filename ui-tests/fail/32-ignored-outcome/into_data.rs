// lint: that must be used
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>) {
    x.into_data();
}

fn main() {}
