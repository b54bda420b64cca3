// The twin of `fail/02-no-communicator/mesh_of_mesh.rs`.
use keyway::prelude::*;

fn main() {
    let _ = Mesh::<Flex>::open(2);
}
