// E0277: use `Autodiff<keyway::Flex>`
use keyway::prelude::*;

struct Step {
    loss: Tensor<Flex, 1>,
}

impl Step {
    fn run(self) {
        let _ = self.loss.backward();
    }
}

fn main() {}
