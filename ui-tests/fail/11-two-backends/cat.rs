// E0308: expected `Tensor<Flex, 1>`, found
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, y: Tensor<Mesh<Flex>, 1>) {
    let _ = Tensor::cat(vec![x, y], 0);
}

fn main() {}
