// E0308: expected `Tensor<Autodiff<Flex>, 2>`
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 2>, y: Tensor<Autodiff<Flex, BalancedCheckpointing>, 2>) {
    let _ = x.matmul(y);
}

fn main() {}
