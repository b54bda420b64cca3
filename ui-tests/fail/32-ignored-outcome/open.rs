// lint: that must be used
#![deny(unused_must_use)]
use keyway::prelude::*;

fn main() {
    Mesh::<Flex>::open(2);
}
