// E0277: needs a float element type
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<Flex>>, 2, i64>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
