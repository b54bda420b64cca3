// E0277: use `Autodiff<Mesh<Flex>>`
use keyway::Mesh;
use keyway::prelude::*;

fn main() {
    let _mark = |w: Tensor<Mesh<Flex>, 1>| w.set_distributed_params("w");
}
