// The twin of `fail/15-recorded/generic.rs`.
use keyway::prelude::*;

fn read<B: Readable>(x: Tensor<B, 1>) {
    let _ = x.into_data();
}

fn main() {}
