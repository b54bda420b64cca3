// The twin of `fail/24-strategies/unknown.rs`.
use keyway::prelude::*;

fn f(_x: Tensor<Autodiff<Flex, NoCheckpointing>, 1>) {}

fn main() {}
