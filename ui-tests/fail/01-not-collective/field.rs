// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

struct Layer {
    weight: Tensor<Autodiff<Flex>, 2>,
}

impl Layer {
    fn distribute(&mut self) {
        self.weight = self.weight.clone().set_distributed_params("weight");
    }
}

fn main() {}
