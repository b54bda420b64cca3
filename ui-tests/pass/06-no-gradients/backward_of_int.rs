// The twin of `fail/06-no-gradients/backward_of_int.rs`.
use keyway::prelude::*;

fn slope(loss: Tensor<Autodiff<Flex>, 1, f32>) {
    let _ = loss.backward();
}

fn main() {}
