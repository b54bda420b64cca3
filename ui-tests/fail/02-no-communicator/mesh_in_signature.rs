// E0277: only a `Local` backend can be joined into a `Mesh`
use keyway::prelude::*;

fn step(_x: Tensor<Mesh<Autodiff<Flex>>, 1>) {}

fn main() {}
