// E0277: cannot carry the memory of
use keyway::collective::Carries;
use keyway::{LocalBackend, Mesh};
use keyway::prelude::*;

fn f<B: LocalBackend, T>(_x: Tensor<Mesh<B, T>, 1>) {}

fn main() {}
