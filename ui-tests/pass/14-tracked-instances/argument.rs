// The twin of `fail/14-tracked-instances/argument.rs`.
use keyway::prelude::*;

fn loss(x: Tensor<Autodiff<Flex>, 1>) -> Tensor<Autodiff<Flex>, 1> {
    x.sum()
}

fn f(x: Tensor<Flex, 1>) {
    let _ = loss(Tensor::from_inner(x));
}

fn main() {}
