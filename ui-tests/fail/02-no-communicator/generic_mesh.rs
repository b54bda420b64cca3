// E0277: only a `Local` backend can be joined into a `Mesh`
use keyway::prelude::*;

fn step<B: PlainBackend>(_x: Tensor<Mesh<B>, 1>) {}

fn main() {}
