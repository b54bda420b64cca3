// E0277: does not hold `u32` elements
use keyway::prelude::*;

fn tokens<B: Backend + Supports<u32>>(_device: &B::Device) {}

fn main() {
    tokens::<Autodiff<LibTorch>>(&Default::default());
}
