// lint: that must be used
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(gradients: keyway::Gradients<Flex, keyway::Synced>) {
    gradients.sync();
}

fn main() {}
