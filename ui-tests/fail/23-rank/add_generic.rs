// E0277: `.unsqueeze()` raises the rank
use keyway::prelude::*;

fn f<B: Backend, const D: usize>(x: Tensor<B, D>, y: Tensor<B, 1>) {
    let _ = x + y;
}

fn main() {}
