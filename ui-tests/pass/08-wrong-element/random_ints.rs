// The twin of `fail/08-wrong-element/random_ints.rs`.
use keyway::Distribution;
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 1, f32>::random([3], Distribution::Default, &device);
}
