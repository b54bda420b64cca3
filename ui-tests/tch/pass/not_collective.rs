// The twin of `fail/not_collective.rs`.
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<LibTorch>>, 2>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
