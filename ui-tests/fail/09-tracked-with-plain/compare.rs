// E0277: `Tensor::from_inner(..)` lifts to `Autodiff`
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, y: Tensor<Flex, 1>) {
    let _ = x.greater(y);
}

fn main() {}
