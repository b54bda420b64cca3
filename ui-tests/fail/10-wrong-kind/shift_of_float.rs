// E0277: needs an integer element type
use keyway::prelude::*;

fn f(x: Tensor<Flex, 1, f32>) {
    let _ = x.bitwise_left_shift_scalar(1);
}

fn main() {}
