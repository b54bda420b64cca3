// E0277: `Tensor::from_inner(..)` lifts to `Autodiff`
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, mask: Tensor<Autodiff<Flex>, 1, bool>, y: Tensor<Flex, 1>) {
    let _ = x.mask_where(mask, y);
}

fn main() {}
