// The twin of `fail/09-tracked-with-plain/matmul.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 2>, y: Tensor<Flex, 2>) {
    let _ = x.matmul(Tensor::from_inner(y));
}

fn main() {}
