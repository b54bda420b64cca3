// The twin of `fail/29-transport/generic.rs`.
use keyway::prelude::*;

fn f<B: keyway::LocalBackend, T: keyway::collective::Carries<B>>(_x: Tensor<Mesh<B, T>, 1>) {}

fn main() {}
