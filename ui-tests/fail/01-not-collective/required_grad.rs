// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let w = Tensor::<Autodiff<Flex>, 2>::ones([2, 3], &device).require_grad();
    let _ = w.set_distributed_params("w");
}
