// The twin of `fail/01-not-collective/generic_autodiff.rs`.
use keyway::prelude::*;

fn mark<B: AutodiffBackend + CollectiveBackend>(w: Tensor<B, 1>) -> Tensor<B, 1> {
    w.set_distributed_params("w")
}

fn main() {}
