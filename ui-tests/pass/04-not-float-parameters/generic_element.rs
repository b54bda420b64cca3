// The twin of `fail/04-not-float-parameters/generic_element.rs`.
use keyway::prelude::*;

fn mark<E: FloatElement>(w: Tensor<Autodiff<Mesh<Flex>>, 2, E>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
