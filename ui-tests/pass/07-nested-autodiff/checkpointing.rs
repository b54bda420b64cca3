// The twin of `fail/07-nested-autodiff/checkpointing.rs`.
use keyway::prelude::*;

type Twice = Autodiff<Flex>;

fn f(_x: Tensor<Twice, 1>) {}

fn main() {}
