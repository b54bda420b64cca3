// E0277: does not hold `u64` elements
use keyway::prelude::*;

fn main() {
    let _ = Tensor::<LibTorch, 1, u64>::zeros([3], &Default::default());
}
