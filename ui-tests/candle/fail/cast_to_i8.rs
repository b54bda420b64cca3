// E0277: does not hold `i8` elements
use keyway::prelude::*;

fn quantize(x: Tensor<Mesh<Candle>, 2>) -> Tensor<Mesh<Candle>, 2, i32> {
    x.cast::<i8>().cast()
}

fn main() {}
