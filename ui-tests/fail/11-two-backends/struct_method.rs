// E0277: `.to_backend(..)` moves
use keyway::prelude::*;

struct Scale<B: Backend> {
    by: Tensor<B, 1>,
}

impl Scale<Mesh<Flex>> {
    fn apply(&self, x: Tensor<Flex, 1>) -> Tensor<Flex, 1> {
        x * &self.by
    }
}

fn main() {}
