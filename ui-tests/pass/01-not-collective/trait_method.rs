// The twin of `fail/01-not-collective/trait_method.rs`.
use keyway::prelude::*;

trait Distribute<B: PlainBackend> {
    fn distribute(self) -> Self;
}

impl<B: PlainBackend + CollectiveBackend> Distribute<B> for Tensor<Autodiff<B>, 2> {
    fn distribute(self) -> Self {
        self.set_distributed_params("w")
    }
}

fn main() {}
