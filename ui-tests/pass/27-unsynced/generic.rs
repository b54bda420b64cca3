// The twin of `fail/27-unsynced/generic.rs`.
use keyway::nn::Linear;
use keyway::optim::Sgd;
use keyway::prelude::*;

fn step<B: PlainBackend>(sgd: &mut Sgd<B>, model: &mut Linear<Autodiff<B>>, loss: Tensor<Autodiff<B>, 1>) {
    sgd.step(0.1, model, &loss.backward().sync().unwrap());
}

fn main() {}
