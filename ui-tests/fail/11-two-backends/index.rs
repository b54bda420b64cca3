// E0308: found `Tensor<Mesh<Flex>, 1, i32>`
use keyway::prelude::*;

fn f(x: Tensor<Flex, 2>, index: Tensor<Mesh<Flex>, 1, i32>) {
    let _ = x.select(0, index);
}

fn main() {}
