// E0277: use `Autodiff<keyway::LibTorch>`
use keyway::prelude::*;

fn gradients(loss: Tensor<LibTorch, 1>) {
    let _ = loss.backward();
}

fn main() {}
