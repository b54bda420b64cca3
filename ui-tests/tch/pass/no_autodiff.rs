// The twin of `fail/no_autodiff.rs`.
use keyway::prelude::*;

fn gradients(loss: Tensor<Autodiff<LibTorch>, 1>) {
    let _ = loss.backward();
}

fn main() {}
