// The twin of `fail/10-wrong-kind/float_mask.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, mask: Tensor<Flex, 1>) {
    let _ = x.mask_fill(mask.bool(), 0.0);
}

fn main() {}
