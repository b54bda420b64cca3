// E0277: use `Autodiff<keyway::Flex>`
use keyway::prelude::*;

fn train<B: AutodiffBackend>(_device: &B::Device) {}

fn main() {
    train::<Flex>(&Default::default());
}
