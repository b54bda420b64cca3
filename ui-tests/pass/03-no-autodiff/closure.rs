// The twin of `fail/03-no-autodiff/closure.rs`.
use keyway::prelude::*;

fn main() {
    let _mark = |w: Tensor<Autodiff<Mesh<Flex>>, 1>| w.set_distributed_params("w");
}
