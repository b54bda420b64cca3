// E0308: expected `Tensor<Flex, 2>`, found
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, y: Tensor<Mesh<Flex>, 2>) {
    let _ = x.matmul(y);
}

fn main() {}
