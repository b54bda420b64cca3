// E0277: `Dyn` is not a `Collective` backend
use keyway::Dyn;
use keyway::prelude::*;

fn share(x: Tensor<Autodiff<Dyn>, 1>) -> Result<Tensor<Autodiff<Dyn>, 1>, Error> {
    x.all_reduce(ReduceKind::Sum)
}

fn main() {}
