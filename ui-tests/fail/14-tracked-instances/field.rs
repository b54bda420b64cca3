// E0308: expected `Tensor<Flex, 1>`, found `Tensor<Autodiff<Flex>, 1>`
use keyway::prelude::*;

struct Statistics {
    mean: Tensor<Flex, 1>,
}

fn f(x: Tensor<Autodiff<Flex>, 1>) -> Statistics {
    Statistics { mean: x.mean() }
}

fn main() {}
