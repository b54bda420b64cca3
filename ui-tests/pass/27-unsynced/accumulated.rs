// The twin of `fail/27-unsynced/accumulated.rs`.
use keyway::nn::Linear;
use keyway::optim::Sgd;
use keyway::prelude::*;

type B = Autodiff<Mesh<Flex>>;

fn step(sgd: &mut Sgd<Mesh<Flex>>, model: &mut Linear<B>, losses: [Tensor<B, 1>; 2]) -> Result<(), Error> {
    let [first, second] = losses;
    let gradients = first.backward().accumulate(second.backward())?;
    sgd.step(0.1, model, &gradients.sync()?)
}

fn main() {}
