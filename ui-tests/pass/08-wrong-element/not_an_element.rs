// The twin of `fail/08-wrong-element/not_an_element.rs`.
use keyway::prelude::*;

fn f(_x: Tensor<Flex, 1, f32>) {}

fn main() {}
