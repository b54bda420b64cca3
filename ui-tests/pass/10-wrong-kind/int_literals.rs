// The twin of `fail/10-wrong-kind/int_literals.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 1>::from_array([1.0, 2.0], &device);
}
