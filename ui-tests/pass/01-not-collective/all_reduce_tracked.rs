// The twin of `fail/01-not-collective/all_reduce_tracked.rs`.
use keyway::prelude::*;

fn total(x: Tensor<Autodiff<Mesh<Flex>>, 1>) {
    let _ = x.all_reduce(ReduceKind::Sum);
}

fn main() {}
