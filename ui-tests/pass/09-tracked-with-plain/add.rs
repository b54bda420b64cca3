// The twin of `fail/09-tracked-with-plain/add.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, y: Tensor<Flex, 1>) {
    let _ = x + Tensor::from_inner(y);
}

fn main() {}
