// The twin of `fail/03-no-autodiff/generic.rs`.
use keyway::prelude::*;

fn mark<B: PlainBackend + CollectiveBackend>(w: Tensor<Autodiff<B>, 1>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
