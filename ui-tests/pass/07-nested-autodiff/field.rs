// The twin of `fail/07-nested-autodiff/field.rs`.
use keyway::prelude::*;

struct Model<B: PlainBackend> {
    weight: Tensor<Autodiff<B>, 2>,
}

fn main() {}
