// The twin of `fail/22-unsupported-element/generic.rs`.
use keyway::prelude::*;

fn f<B: Backend + Supports<f64>>(x: Tensor<B, 1>) -> Tensor<B, 1, f64> {
    x.cast()
}

fn main() {}
