// E0277: expected nested arrays of depth 1 with `f32` elements
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 1>::from_array([1, 2], &device);
}
