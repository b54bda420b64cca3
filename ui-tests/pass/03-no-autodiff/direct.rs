// The twin of `fail/03-no-autodiff/direct.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let w = Tensor::<Autodiff<Mesh<Flex>>, 2>::zeros([2, 3], &device);
    let _ = w.set_distributed_params("w");
}
