// The twin of `fail/08-wrong-element/generic_element.rs`.
use keyway::prelude::*;

fn f<E: FloatElement>(x: Tensor<Flex, 1, E>) -> Tensor<Flex, 1, E> {
    x.tanh()
}

fn main() {}
