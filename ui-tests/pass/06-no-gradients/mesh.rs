// The twin of `fail/06-no-gradients/mesh.rs`.
use keyway::prelude::*;

fn slope(loss: Tensor<Autodiff<Mesh<Flex>>, 1>) {
    let _ = loss.backward();
}

fn main() {}
