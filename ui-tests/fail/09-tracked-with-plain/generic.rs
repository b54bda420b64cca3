// E0277: `Tensor::from_inner(..)` lifts to `Autodiff`
use keyway::prelude::*;

fn f<B: PlainBackend>(x: Tensor<Autodiff<B>, 1>, y: Tensor<B, 1>) {
    let _ = x - y;
}

fn main() {}
