// const: adds one axis
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 1>::zeros([2], &device).unsqueeze_dim::<3>(0);
}
