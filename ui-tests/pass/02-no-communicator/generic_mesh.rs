// The twin of `fail/02-no-communicator/generic_mesh.rs`.
use keyway::prelude::*;

fn step<B: keyway::LocalBackend>(_x: Tensor<Mesh<B>, 1>) {}

fn main() {}
