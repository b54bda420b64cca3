// E0277: does not hold `u16` elements
use keyway::prelude::*;

fn tokens<B: Backend + Supports<u16>>(_device: &B::Device) {}

fn main() {
    tokens::<Autodiff<Candle>>(&Default::default());
}
