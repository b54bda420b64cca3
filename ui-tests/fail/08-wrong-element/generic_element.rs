// E0277: needs a float element type
use keyway::prelude::*;

fn f<E: NumericElement>(x: Tensor<Flex, 1, E>) -> Tensor<Flex, 1, E> {
    x.tanh()
}

fn main() {}
