// The twin of `fail/06-no-gradients/backward.rs`.
use keyway::prelude::*;

fn slope(loss: Tensor<Autodiff<Flex>, 1>) {
    let _ = loss.backward();
}

fn main() {}
