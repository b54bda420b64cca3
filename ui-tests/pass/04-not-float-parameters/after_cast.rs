// The twin of `fail/04-not-float-parameters/after_cast.rs`.
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<Flex>>, 2>) {
    let _ = w.cast::<f64>().set_distributed_params("w");
}

fn main() {}
