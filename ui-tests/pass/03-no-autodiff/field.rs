// The twin of `fail/03-no-autodiff/field.rs`.
use keyway::prelude::*;

struct Layer {
    weight: Tensor<Autodiff<Mesh<Flex>>, 2>,
}

fn mark(layer: Layer) {
    let _ = layer.weight.set_distributed_params("weight");
}

fn main() {}
