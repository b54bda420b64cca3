// E0277: cannot carry the memory of
use keyway::prelude::*;

fn f<B: keyway::LocalBackend, T>(_x: Tensor<Mesh<B, T>, 1>) {}

fn main() {}
