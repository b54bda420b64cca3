// E0277: `B` cannot take part in collective operations
use keyway::prelude::*;

fn mark<B: PlainBackend>(w: Tensor<Autodiff<B>, 1>) -> Tensor<Autodiff<B>, 1> {
    w.set_distributed_params("w")
}

fn main() {}
