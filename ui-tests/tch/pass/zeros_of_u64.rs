// The twin of `fail/zeros_of_u64.rs`.
use keyway::prelude::*;

fn main() {
    let _ = Tensor::<LibTorch, 1, i64>::zeros([3], &Default::default());
}
