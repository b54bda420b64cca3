// The twin of `fail/generic_of_u32.rs`.
use keyway::prelude::*;

fn tokens<B: Backend + Supports<u8>>(_device: &B::Device) {}

fn main() {
    tokens::<Autodiff<LibTorch>>(&Default::default());
}
