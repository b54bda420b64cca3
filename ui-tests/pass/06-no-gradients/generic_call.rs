// The twin of `fail/06-no-gradients/generic_call.rs`.
use keyway::prelude::*;

fn train<B: AutodiffBackend>(_device: &B::Device) {}

fn main() {
    train::<Autodiff<Flex>>(&Default::default());
}
