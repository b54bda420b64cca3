// The twin of `fail/06-no-gradients/grad.rs`.
use keyway::{Gradients, Synced};
use keyway::prelude::*;

fn slope(x: Tensor<Autodiff<Flex>, 1>, gradients: Gradients<Flex, Synced>) {
    let _ = x.grad(&gradients);
}

fn main() {}
