// The twin of `fail/09-tracked-with-plain/mask_where.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, mask: Tensor<Autodiff<Flex>, 1, bool>, y: Tensor<Flex, 1>) {
    let _ = x.mask_where(mask, Tensor::from_inner(y));
}

fn main() {}
