// The twin of `fail/07-nested-autodiff/generic.rs`.
use keyway::prelude::*;

fn f<B: PlainBackend>(_x: Tensor<Autodiff<B>, 1>) {}

fn main() {}
