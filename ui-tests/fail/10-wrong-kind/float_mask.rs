// E0308: expected `Tensor<Flex, 1, bool>`
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1>, mask: Tensor<Flex, 1>) {
    let _ = x.mask_fill(mask, 0.0);
}

fn main() {}
