// E0277: needs a float element type
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Mesh<Flex>>, 2>) {
    let _ = w.cast::<i32>().set_distributed_params("w");
}

fn main() {}
