// E0277: expected nested arrays of depth 2 with `f32` elements
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 2>::from_array([[[1.0], [2.0]]], &device);
}
