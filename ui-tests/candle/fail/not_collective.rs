// E0277: lift it into a group of replicas with `Mesh<keyway::Candle>`
use keyway::prelude::*;

fn mark(w: Tensor<Autodiff<Candle>, 2>) {
    let _ = w.set_distributed_params("w");
}

fn main() {}
