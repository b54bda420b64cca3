// The twin of `fail/generic_of_u16.rs`.
use keyway::prelude::*;

fn tokens<B: Backend + Supports<u8>>(_device: &B::Device) {}

fn main() {
    tokens::<Autodiff<Candle>>(&Default::default());
}
