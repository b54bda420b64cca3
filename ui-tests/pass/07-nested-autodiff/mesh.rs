// The twin of `fail/07-nested-autodiff/mesh.rs`.
use keyway::prelude::*;

fn f(_x: Tensor<Autodiff<Mesh<Flex>>, 1>) {}

fn main() {}
