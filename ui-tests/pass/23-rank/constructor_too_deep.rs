// The twin of `fail/23-rank/constructor_too_deep.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 2>::from_array([[1.0, 2.0]], &device);
}
