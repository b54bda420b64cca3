// The twin of `fail-built/23-rank/unsqueeze_dim.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 1>::zeros([2], &device).unsqueeze_dim::<2>(0);
}
