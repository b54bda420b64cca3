// The twin of `fail/01-not-collective/generic.rs`.
use keyway::prelude::*;

fn mark<B: PlainBackend + CollectiveBackend>(w: Tensor<Autodiff<B>, 1>) -> Tensor<Autodiff<B>, 1> {
    w.set_distributed_params("w")
}

fn main() {}
