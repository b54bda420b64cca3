// The twin of `fail/32-ignored-outcome/open.rs`.
#![deny(unused_must_use)]
use keyway::prelude::*;

fn main() {
    let _ = Mesh::<Flex>::open(2);
}
