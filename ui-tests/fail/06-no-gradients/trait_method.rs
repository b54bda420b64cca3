// E0277: `B: AutodiffBackend`
use keyway::prelude::*;

trait Step {
    fn step(self);
}

impl<B: Backend> Step for Tensor<B, 1> {
    fn step(self) {
        let _ = self.backward();
    }
}

fn main() {}
