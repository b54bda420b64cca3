// E0277: cannot be differentiated
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, device: &<Mesh<Flex> as keyway::backend::BackendTypes>::Device) {
    let _ = x.to_backend::<Mesh<Flex>>(device);
}

fn main() {}
