// E0277: not the same backend, rank and element type
use keyway::Dyn;
use keyway::prelude::*;

fn sum(
    x: Tensor<Autodiff<Dyn>, 1>,
    y: Tensor<Autodiff<Dyn, BalancedCheckpointing>, 1>,
) -> Tensor<Autodiff<Dyn>, 1> {
    x + y
}

fn main() {}
