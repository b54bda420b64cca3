// E0277: `Autodiff` wraps plain backends only
use keyway::prelude::*;

type Twice = Autodiff<Autodiff<Flex, BalancedCheckpointing>>;

fn f(_x: Tensor<Twice, 1>) {}

fn main() {}
