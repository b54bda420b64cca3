// The twin of `fail/27-unsynced/sgd_synced.rs`.
use keyway::nn::Linear;
use keyway::optim::Sgd;
use keyway::prelude::*;

fn step(sgd: &mut Sgd<Mesh<Flex>>, model: &mut Linear<Autodiff<Mesh<Flex>>>, loss: Tensor<Autodiff<Mesh<Flex>>, 1>) {
    sgd.step(0.1, model, &loss.backward().sync().unwrap());
}

fn main() {}
