// The twin of `fail/32-ignored-outcome/sync.rs`.
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(gradients: keyway::Gradients<Flex, keyway::Synced>) {
    let _ = gradients.sync();
}

fn main() {}
