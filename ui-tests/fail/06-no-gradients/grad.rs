// E0277: use `Autodiff<keyway::Flex>`
use keyway::{Gradients, Synced};
use keyway::prelude::*;

fn slope(x: Tensor<Flex, 1>, gradients: Gradients<Flex, Synced>) {
    let _ = x.grad(&gradients);
}

fn main() {}
