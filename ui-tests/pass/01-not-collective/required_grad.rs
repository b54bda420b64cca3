// The twin of `fail/01-not-collective/required_grad.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let w = Tensor::<Autodiff<Mesh<Flex>>, 2>::ones([2, 3], &device).require_grad();
    let _ = w.set_distributed_params("w");
}
