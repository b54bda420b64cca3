// The twin of `fail/06-no-gradients/generic.rs`.
use keyway::prelude::*;

fn slope<B: AutodiffBackend>(loss: Tensor<B, 1>) {
    let _ = loss.backward();
}

fn main() {}
