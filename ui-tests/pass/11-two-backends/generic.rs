// The twin of `fail/11-two-backends/generic.rs`.
use keyway::prelude::*;

fn f<A: Backend, B: Backend>(x: Tensor<A, 1>, y: Tensor<A, 1>) {
    let _ = x + y;
}

fn main() {}
