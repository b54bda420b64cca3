// The twin of `fail/24-strategies/matmul.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 2>, y: Tensor<Autodiff<Flex>, 2>) {
    let _ = x.matmul(y);
}

fn main() {}
