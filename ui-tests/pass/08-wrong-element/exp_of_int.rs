// The twin of `fail/08-wrong-element/exp_of_int.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 1, f32>::ones([3], &device).exp();
}
