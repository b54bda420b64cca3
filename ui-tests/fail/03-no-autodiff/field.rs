// E0277: use `Autodiff<keyway::Mesh<keyway::Flex>>`
use keyway::prelude::*;

struct Layer {
    weight: Tensor<Mesh<Flex>, 2>,
}

fn mark(layer: Layer) {
    let _ = layer.weight.set_distributed_params("weight");
}

fn main() {}
