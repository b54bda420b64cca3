// The twin of `fail/02-no-communicator/generic_mesh.rs`.
use keyway::{LocalBackend, Mesh};
use keyway::prelude::*;

fn open<B: LocalBackend>() {
    let _ = Mesh::<B>::open(2);
}

fn main() {}
