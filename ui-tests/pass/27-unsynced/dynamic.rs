use keyway::Dyn;
use keyway::nn::Linear;
use keyway::optim::Sgd;
use keyway::prelude::*;

fn step(sgd: &mut Sgd<Dyn>, model: &mut Linear<Autodiff<Dyn>>, loss: Tensor<Autodiff<Dyn>, 1>) {
    sgd.step(0.1, model, &loss.backward().sync().unwrap());
}

fn main() {}
