// The twin of `fail/two_backends.rs`.
use keyway::prelude::*;

fn add(x: Tensor<Candle, 1>, y: Tensor<Candle, 1>) {
    let _ = x + y;
}

fn main() {}
