// E0308: expected `Tensor<Flex, 1>`, found
use keyway::module::linear;
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, w: Tensor<Flex, 2>, bias: Tensor<Mesh<Flex>, 1>) {
    let _ = linear(x, w, Some(bias));
}

fn main() {}
