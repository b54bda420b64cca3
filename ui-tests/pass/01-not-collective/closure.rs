// The twin of `fail/01-not-collective/closure.rs`.
use keyway::prelude::*;

fn main() {
    let _mark = |w: Tensor<Autodiff<Mesh<Flex>>, 1>| w.set_distributed_params("w");
}
