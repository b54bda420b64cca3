// The twin of `fail/27-unsynced/adamw.rs`.
use keyway::nn::Linear;
use keyway::optim::AdamW;
use keyway::prelude::*;

fn step(adam: &mut AdamW<Mesh<Flex>>, model: &mut Linear<Autodiff<Mesh<Flex>>>, loss: Tensor<Autodiff<Mesh<Flex>>, 1>) {
    adam.step(0.1, model, &loss.backward().sync().unwrap());
}

fn main() {}
