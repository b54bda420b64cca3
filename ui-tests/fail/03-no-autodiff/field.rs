// E0277: use `Autodiff<Mesh<Flex>>`
use keyway::Mesh;
use keyway::prelude::*;

struct Layer {
    weight: Tensor<Mesh<Flex>, 2>,
}

fn mark(layer: Layer) {
    let _ = layer.weight.set_distributed_params("weight");
}

fn main() {}
