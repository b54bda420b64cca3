// E0277: needs a float element type
use keyway::prelude::*;

fn slope(loss: Tensor<Autodiff<Flex>, 1, i32>) {
    let _ = loss.backward();
}

fn main() {}
