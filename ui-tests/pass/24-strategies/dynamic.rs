use keyway::Dyn;
use keyway::prelude::*;

fn sum(
    x: Tensor<Autodiff<Dyn>, 1>,
    y: Tensor<Autodiff<Dyn>, 1>,
) -> Tensor<Autodiff<Dyn>, 1> {
    x + y
}

fn main() {}
