// The twin of `fail/13-tracked-move/to_backend.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, device: &<Mesh<Flex> as keyway::backend::BackendTypes>::Device) {
    let _ = x.inner().to_backend::<Mesh<Flex>>(device);
}

fn main() {}
