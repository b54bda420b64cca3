// The twin of `fail-built/23-rank/stack.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::stack::<3>(vec![Tensor::<Flex, 2>::zeros([2, 1], &device)], 0);
}
