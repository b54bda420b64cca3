// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Flex, BalancedCheckpointing>, 1>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
