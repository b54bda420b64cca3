// The twin of `fail/zeros_of_u64.rs`.
use keyway::prelude::*;

fn main() {
    let _ = Tensor::<Candle, 1, u32>::zeros([3], &Default::default());
}
