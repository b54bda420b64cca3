// The twin of `fail/07-nested-autodiff/generic_call.rs`.
use keyway::prelude::*;

fn train<B: PlainBackend>(_device: &B::Device) {}

fn main() {
    train::<Flex>(&Default::default());
}
