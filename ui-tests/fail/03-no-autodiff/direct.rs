// E0277: use `Autodiff<keyway::Mesh<keyway::Flex>>`
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let w = Tensor::<Mesh<Flex>, 2>::zeros([2, 3], &device);
    let _ = w.set_distributed_params("w");
}
