// E0308: expected `Tensor<Autodiff<Flex>, 2>`, found `Tensor<Flex, 2>`
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 2>, y: Tensor<Flex, 2>) {
    let _ = Tensor::cat(vec![x, y], 0);
}

fn main() {}
