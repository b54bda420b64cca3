// E0277: does not hold `u16` elements
use keyway::prelude::*;

fn quantize(x: Tensor<Mesh<LibTorch>, 2>) -> Tensor<Mesh<LibTorch>, 2, i32> {
    x.cast::<u16>().cast()
}

fn main() {}
