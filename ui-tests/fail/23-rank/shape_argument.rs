// E0308: expected an array with a size of 2, found one with a size of 1
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 2>::zeros([3], &device);
}
