// The twin of `fail/24-strategies/field.rs`.
use keyway::prelude::*;

struct Layer {
    weight: Tensor<Autodiff<Flex>, 1>,
}

impl Layer {
    fn forward(&self, x: Tensor<Autodiff<Flex>, 1>) {
        let _ = x * &self.weight;
    }
}

fn main() {}
