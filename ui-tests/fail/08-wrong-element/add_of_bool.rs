// E0369: cannot add
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, bool>, y: Tensor<Flex, 1, bool>) {
    let _ = x + y;
}

fn main() {}
