// const: removes one axis
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 3>::zeros([2, 1, 1], &device).squeeze_dim::<1>(1);
}
