// E0277: `Autodiff` wraps plain backends only
use keyway::prelude::*;

fn f<B: Backend>(_x: Tensor<Autodiff<B>, 1>) {}

fn main() {}
