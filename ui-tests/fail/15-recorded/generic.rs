// E0277: `B: Readable`
use keyway::prelude::*;

fn read<B: Backend>(x: Tensor<B, 1>) {
    let _ = x.into_data();
}

fn main() {}
