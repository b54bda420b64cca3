// The twin of `fail/09-tracked-with-plain/plain_on_the_left.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 1>, y: Tensor<Flex, 1>) {
    let _ = y * x.inner();
}

fn main() {}
