// E0277: use `Autodiff<keyway::Mesh<keyway::Flex>>`
use keyway::prelude::*;

fn slope(loss: Tensor<Mesh<Flex>, 1>) {
    let _ = loss.backward();
}

fn main() {}
