// E0277: `.to_backend(..)` moves
use keyway::prelude::*;

fn f<A: Backend, B: Backend>(x: Tensor<A, 1>, y: Tensor<B, 1>) {
    let _ = x + y;
}

fn main() {}
