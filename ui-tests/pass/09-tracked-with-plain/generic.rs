// The twin of `fail/09-tracked-with-plain/generic.rs`.
use keyway::prelude::*;

fn f<B: PlainBackend>(x: Tensor<Autodiff<B>, 1>, y: Tensor<B, 1>) {
    let _ = x - Tensor::from_inner(y);
}

fn main() {}
