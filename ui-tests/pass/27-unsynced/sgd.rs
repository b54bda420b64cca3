// The twin of `fail/27-unsynced/sgd.rs`.
use keyway::nn::Linear;
use keyway::optim::Sgd;
use keyway::prelude::*;

type B = Flex;

fn step(sgd: &mut Sgd<B>, model: &mut Linear<Autodiff<B>>, loss: Tensor<Autodiff<B>, 1>) {
    sgd.step(0.1, model, &loss.backward());
}

fn main() {}
