// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

fn rank<B: CollectiveBackend>(device: &B::Device) -> usize {
    B::member(device).rank()
}

fn main() {
    rank::<Flex>(&Default::default());
}
