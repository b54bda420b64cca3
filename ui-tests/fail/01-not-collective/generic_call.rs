// E0277: lift it into a group of replicas with `Mesh<Flex>`
use keyway::Mesh;
use keyway::prelude::*;

fn train<B: PlainBackend + CollectiveBackend>(_device: &B::Device) {}

fn main() {
    train::<Flex>(&Default::default());
}
