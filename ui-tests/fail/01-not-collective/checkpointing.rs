// E0277: lift it into a group of replicas with `Mesh<Flex>`
use keyway::Mesh;
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Flex, BalancedCheckpointing>, 1>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
