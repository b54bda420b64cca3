// lint: that must be used
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>) {
    x.all_reduce(ReduceKind::Sum);
}

fn main() {}
