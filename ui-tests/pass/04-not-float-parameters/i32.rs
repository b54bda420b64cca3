// The twin of `fail/04-not-float-parameters/i32.rs`.
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<Flex>>, 2, f32>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
