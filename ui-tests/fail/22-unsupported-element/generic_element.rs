// E0277: `B: Supports<E>`
use keyway::prelude::*;

fn f<B: Backend, E: FloatElement>(device: &B::Device) -> Tensor<B, 1, E> {
    Tensor::zeros([3], device)
}

fn main() {}
