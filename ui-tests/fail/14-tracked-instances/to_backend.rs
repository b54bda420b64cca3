// E0277: cannot be differentiated
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, device: &keyway::FlexDevice) {
    let _ = x.to_backend::<Autodiff<Flex>>(device);
}

fn main() {}
