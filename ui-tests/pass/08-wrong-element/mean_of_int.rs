// The twin of `fail/08-wrong-element/mean_of_int.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, i32>) {
    let _ = x.float().mean();
}

fn main() {}
