// E0277: use `Autodiff<B>`
use keyway::prelude::*;

fn mark<B: PlainBackend + CollectiveBackend>(w: Tensor<B, 1>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
