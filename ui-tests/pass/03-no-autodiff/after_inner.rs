// The twin of `fail/03-no-autodiff/after_inner.rs`.
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<Flex>>, 1>) {
    let _ = w.detach().set_distributed_params("w");
}

fn main() {}
