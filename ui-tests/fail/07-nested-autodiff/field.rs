// E0277: `Autodiff` wraps plain backends only
use keyway::prelude::*;

struct Model<B: Backend> {
    weight: Tensor<Autodiff<B>, 2>,
}

fn main() {}
