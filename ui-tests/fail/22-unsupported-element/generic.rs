// E0277: `B: Supports<f64>`
use keyway::prelude::*;

fn f<B: Backend>(x: Tensor<B, 1>) -> Tensor<B, 1, f64> {
    x.cast()
}

fn main() {}
