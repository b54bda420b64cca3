// The twin of `fail/07-nested-autodiff/tensor.rs`.
use keyway::prelude::*;

fn f(_x: Tensor<Autodiff<Flex>, 1>) {}

fn main() {}
