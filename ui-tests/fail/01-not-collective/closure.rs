// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

fn main() {
    let _mark = |w: Tensor<Autodiff<Flex>, 1>| w.set_distributed_params("w");
}
