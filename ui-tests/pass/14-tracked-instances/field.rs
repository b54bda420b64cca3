// The twin of `fail/14-tracked-instances/field.rs`.
use keyway::prelude::*;

struct Statistics {
    mean: Tensor<Flex, 1>,
}

fn f(x: Tensor<Autodiff<Flex>, 1>) -> Statistics {
    Statistics { mean: x.mean().inner() }
}

fn main() {}
