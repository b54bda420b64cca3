// The twin of `fail/32-ignored-outcome/all_reduce.rs`.
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>) {
    let _ = x.all_reduce(ReduceKind::Sum);
}

fn main() {}
