// The twin of `fail/22-unsupported-element/generic_element.rs`.
use keyway::prelude::*;

fn f<B: Backend + Supports<E>, E: FloatElement>(device: &B::Device) -> Tensor<B, 1, E> {
    Tensor::zeros([3], device)
}

fn main() {}
