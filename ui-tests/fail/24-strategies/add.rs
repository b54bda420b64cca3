// E0277: not the same backend, rank and element type, and not a number
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, y: Tensor<Autodiff<Flex, BalancedCheckpointing>, 1>) {
    let _ = x + y;
}

fn main() {}
