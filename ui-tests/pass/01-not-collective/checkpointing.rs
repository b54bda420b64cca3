// The twin of `fail/01-not-collective/checkpointing.rs`.
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<Flex>, BalancedCheckpointing>, 1>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
