// The twin of `fail/02-no-communicator/mesh_in_signature.rs`.
use keyway::prelude::*;

fn step(_x: Tensor<Mesh<Flex>, 1>) {}

fn main() {}
