// The twin of `fail/01-not-collective/all_reduce_generic.rs`.
use keyway::prelude::*;

fn mean<B: CollectiveBackend>(x: Tensor<B, 1>) -> Result<Tensor<B, 1>, keyway::Error> {
    x.all_reduce(ReduceKind::Mean)
}

fn main() {}
