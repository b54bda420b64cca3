// E0277: use `Autodiff<keyway::Flex>`
use keyway::prelude::*;

fn main() {
    let _step = |loss: Tensor<Flex, 1>| {
        let _ = loss.backward();
    };
}
