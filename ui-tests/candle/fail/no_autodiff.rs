// E0277: use `Autodiff<keyway::Candle>`
use keyway::prelude::*;

fn gradients(loss: Tensor<Candle, 1>) {
    let _ = loss.backward();
}

fn main() {}
