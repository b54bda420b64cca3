// The twin of `fail/08-wrong-element/softmax_of_int.rs`.
use keyway::activation::softmax;
use keyway::prelude::*;

fn f(x: Tensor<Autodiff<Flex>, 2, f32>) {
    let _ = softmax(x, 1);
}

fn main() {}
