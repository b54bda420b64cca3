// E0277: use `Autodiff<Mesh<Flex>>`
use keyway::Mesh;
use keyway::prelude::*;

fn slope(loss: Tensor<Mesh<Flex>, 1>) {
    let _ = loss.backward();
}

fn main() {}
