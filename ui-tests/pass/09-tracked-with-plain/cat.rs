// The twin of `fail/09-tracked-with-plain/cat.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 2>, y: Tensor<Flex, 2>) {
    let _ = Tensor::cat(vec![x, Tensor::from_inner(y)], 0);
}

fn main() {}
