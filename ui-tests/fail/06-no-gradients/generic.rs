// E0277: `B: AutodiffBackend`
use keyway::prelude::*;

fn slope<B: Backend>(loss: Tensor<B, 1>) {
    let _ = loss.backward();
}

fn main() {}
