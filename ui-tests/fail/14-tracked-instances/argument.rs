// E0308: expected `Tensor<Autodiff<Flex>, 1>`, found `Tensor<Flex, 1>`
use keyway::prelude::*;

fn loss(x: Tensor<Autodiff<Flex>, 1>) -> Tensor<Autodiff<Flex>, 1> {
    x.sum()
}

fn f(x: Tensor<Flex, 1>) {
    let _ = loss(x);
}

fn main() {}
