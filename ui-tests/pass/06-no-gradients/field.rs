// The twin of `fail/06-no-gradients/field.rs`.
use keyway::prelude::*;

struct Step {
    loss: Tensor<Autodiff<Flex>, 1>,
}

impl Step {
    fn run(self) {
        let _ = self.loss.backward();
    }
}

fn main() {}
