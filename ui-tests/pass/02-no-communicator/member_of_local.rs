// The twin of `fail/02-no-communicator/member_of_local.rs`.
use keyway::prelude::*;

fn rank<B: CollectiveBackend>(device: &B::Device) -> usize {
    B::member(device).rank()
}

fn main() {
    rank::<Mesh<Flex>>(&Default::default());
}
