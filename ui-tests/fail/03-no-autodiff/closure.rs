// E0277: use `Autodiff<keyway::Mesh<keyway::Flex>>`
use keyway::prelude::*;

fn main() {
    let _mark = |w: Tensor<Mesh<Flex>, 1>| w.set_distributed_params("w");
}
