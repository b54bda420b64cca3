// E0277: needs a float element type
use keyway::prelude::*;

fn mark<E: NumericElement>(w: Tensor<Autodiff<Mesh<Flex>>, 2, E>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
