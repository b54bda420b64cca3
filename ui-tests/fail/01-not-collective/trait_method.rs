// E0277: `B` cannot take part in collective operations
use keyway::prelude::*;

trait Distribute<B: PlainBackend> {
    fn distribute(self) -> Self;
}

impl<B: PlainBackend> Distribute<B> for Tensor<Autodiff<B>, 2> {
    fn distribute(self) -> Self {
        self.set_distributed_params("w")
    }
}

fn main() {}
