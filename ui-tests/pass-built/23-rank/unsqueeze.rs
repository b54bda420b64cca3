// The twin of `fail-built/23-rank/unsqueeze.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 2>::zeros([2, 1], &device).unsqueeze::<3>();
}
