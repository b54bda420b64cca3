// The twin of `fail/24-strategies/add.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, y: Tensor<Autodiff<Flex>, 1>) {
    let _ = x + y;
}

fn main() {}
