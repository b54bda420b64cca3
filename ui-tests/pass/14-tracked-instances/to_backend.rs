// The twin of `fail/14-tracked-instances/to_backend.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, device: &keyway::FlexDevice) {
    let _ = Tensor::<Autodiff<Flex>, 1>::from_inner(x.to_device(device));
}

fn main() {}
