// E0277: use `Autodiff<keyway::Flex>`
use keyway::prelude::*;

fn value(x: Tensor<Flex, 1>) {
    let _ = x.inner();
}

fn main() {}
