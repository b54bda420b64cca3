// E0277: needs a float element type
use keyway::activation::softmax;
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 2, i32>) {
    let _ = softmax(x, 1);
}

fn main() {}
