// E0277: lift it into a group of replicas with `Mesh<keyway::LibTorch>`
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<LibTorch>, 2>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
