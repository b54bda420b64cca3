// E0277: use `Autodiff<keyway::Mesh<keyway::Flex>>`
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<Flex>>, 1>) {
    let _ = w.inner().set_distributed_params("w");
}

fn main() {}
