// E0277: call `.sync()?` first
use keyway::nn::Linear;
use keyway::optim::Sgd;
use keyway::prelude::*;

type B = Mesh<Flex>;

fn step(sgd: &mut Sgd<B>, model: &mut Linear<Autodiff<B>>, loss: Tensor<Autodiff<B>, 1>) {
    sgd.step(0.1, model, &loss.backward());
}

fn main() {}
