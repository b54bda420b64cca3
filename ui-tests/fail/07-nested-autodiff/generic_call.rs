// E0277: `Autodiff` wraps plain backends only
use keyway::prelude::*;

fn train<B: PlainBackend>(_device: &B::Device) {}

fn main() {
    train::<Autodiff<Flex>>(&Default::default());
}
