// The twin of `fail/two_backends.rs`.
use keyway::prelude::*;

fn add(x: Tensor<LibTorch, 1>, y: Tensor<LibTorch, 1>) {
    let _ = x + y;
}

fn main() {}
