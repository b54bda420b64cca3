// The twin of `fail/cast_to_u16.rs`.
use keyway::prelude::*;

fn quantize(x: Tensor<Mesh<LibTorch>, 2>) -> Tensor<Mesh<LibTorch>, 2, i32> {
    x.cast::<i16>().cast()
}

fn main() {}
