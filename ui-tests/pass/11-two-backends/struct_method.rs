// The twin of `fail/11-two-backends/struct_method.rs`.
use keyway::prelude::*;

struct Scale<B: Backend> {
    by: Tensor<B, 1>,
}

impl Scale<Flex> {
    fn apply(&self, x: Tensor<Flex, 1>) -> Tensor<Flex, 1> {
        x * &self.by
    }
}

fn main() {}
