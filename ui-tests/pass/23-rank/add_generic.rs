// The twin of `fail/23-rank/add_generic.rs`.
use keyway::prelude::*;

fn f<B: Backend, const D: usize>(x: Tensor<B, D>, y: Tensor<B, D>) {
    let _ = x + y;
}

fn main() {}
