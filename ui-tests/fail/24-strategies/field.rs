// E0277: not the same backend, rank and element type, and not a number
use keyway::prelude::*;

struct Layer {
    weight: Tensor<Autodiff<Flex, BalancedCheckpointing>, 1>,
}

impl Layer {
    fn forward(&self, x: Tensor<Autodiff<Flex>, 1>) {
        let _ = x * &self.weight;
    }
}

fn main() {}
