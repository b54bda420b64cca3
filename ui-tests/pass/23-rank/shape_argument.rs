// The twin of `fail/23-rank/shape_argument.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 2>::zeros([3, 1], &device);
}
