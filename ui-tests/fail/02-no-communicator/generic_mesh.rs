// E0277: only a `Local` backend can be joined into a `Mesh`
use keyway::{LocalBackend, Mesh};
use keyway::prelude::*;

fn open<B: PlainBackend>() {
    let _ = Mesh::<B>::open(2);
}

fn main() {}
