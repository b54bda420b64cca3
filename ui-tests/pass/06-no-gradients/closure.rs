// The twin of `fail/06-no-gradients/closure.rs`.
use keyway::prelude::*;

fn main() {
    let _step = |loss: Tensor<Autodiff<Flex>, 1>| {
        let _ = loss.backward();
    };
}
