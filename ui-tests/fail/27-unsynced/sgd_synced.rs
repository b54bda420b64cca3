// E0277: call `.sync()?` first
use keyway::nn::Linear;
use keyway::optim::Sgd;
use keyway::prelude::*;

fn step(sgd: &mut Sgd<Mesh<Flex>>, model: &mut Linear<Autodiff<Mesh<Flex>>>, loss: Tensor<Autodiff<Mesh<Flex>>, 1>) {
    sgd.step(0.1, model, &loss.backward());
}

fn main() {}
