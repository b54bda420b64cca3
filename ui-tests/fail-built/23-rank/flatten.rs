// const: joins axes
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 2>::zeros([2, 1], &device).flatten::<3>(0, 1);
}
