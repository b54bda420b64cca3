// The twin of `fail/01-not-collective/field.rs`.
use keyway::prelude::*;

struct Layer {
    weight: Tensor<Autodiff<Mesh<Flex>>, 2>,
}

impl Layer {
    fn distribute(&mut self) {
        self.weight = self.weight.clone().set_distributed_params("weight");
    }
}

fn main() {}
