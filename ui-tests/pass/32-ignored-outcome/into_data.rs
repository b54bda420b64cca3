// The twin of `fail/32-ignored-outcome/into_data.rs`.
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>) {
    let _ = x.into_data();
}

fn main() {}
