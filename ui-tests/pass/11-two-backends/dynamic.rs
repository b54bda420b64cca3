use keyway::Dyn;
use keyway::prelude::*;

fn sum(x: Tensor<Dyn, 1>, y: Tensor<Dyn, 1>) -> Tensor<Dyn, 1> {
    x + y
}

fn main() {}
