// const: adds one axis
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::stack::<2>(vec![Tensor::<Flex, 2>::zeros([2, 1], &device)], 0);
}
