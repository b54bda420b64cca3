// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

fn train<B: PlainBackend + CollectiveBackend>(_device: &B::Device) {}

fn main() {
    train::<Flex>(&Default::default());
}
