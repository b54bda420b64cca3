// E0277: not the same backend, rank and element type, and not a number
use keyway::prelude::*;

fn f<B: PlainBackend>(x: Tensor<Autodiff<B>, 1>, y: Tensor<B, 1>) {
    let _ = x - y;
}

fn main() {}
