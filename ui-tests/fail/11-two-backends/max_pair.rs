// E0277: `.to_backend(..)` moves
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, y: Tensor<Mesh<Flex>, 1>) {
    let _ = x.max_pair(y);
}

fn main() {}
