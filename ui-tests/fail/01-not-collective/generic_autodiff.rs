// E0277: `B` cannot take part in collective operations
use keyway::prelude::*;

fn mark<B: AutodiffBackend>(w: Tensor<B, 1>) -> Tensor<B, 1> {
    w.set_distributed_params("w")
}

fn main() {}
