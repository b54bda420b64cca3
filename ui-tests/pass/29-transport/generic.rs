// The twin of `fail/29-transport/generic.rs`.
use keyway::collective::Carries;
use keyway::{LocalBackend, Mesh};
use keyway::prelude::*;

fn f<B: LocalBackend, T: Carries<B>>(_x: Tensor<Mesh<B, T>, 1>) {}

fn main() {}
