// The twin of `fail/06-no-gradients/trait_method.rs`.
use keyway::prelude::*;

trait Step {
    fn step(self);
}

impl<B: AutodiffBackend> Step for Tensor<B, 1> {
    fn step(self) {
        let _ = self.backward();
    }
}

fn main() {}
