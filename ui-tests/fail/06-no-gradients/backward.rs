// E0277: use `Autodiff<keyway::Flex>`
use keyway::prelude::*;

fn slope(loss: Tensor<Flex, 1>) {
    let _ = loss.backward();
}

fn main() {}
