// The twin of `fail/06-no-gradients/inner.rs`.
use keyway::prelude::*;

fn value(x: Tensor<Autodiff<Flex>, 1>) {
    let _ = x.inner();
}

fn main() {}
