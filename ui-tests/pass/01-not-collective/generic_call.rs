// The twin of `fail/01-not-collective/generic_call.rs`.
use keyway::prelude::*;

fn train<B: PlainBackend + CollectiveBackend>(_device: &B::Device) {}

fn main() {
    train::<Mesh<Flex>>(&Default::default());
}
