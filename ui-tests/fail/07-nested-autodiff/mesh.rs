// E0277: `Autodiff` wraps plain backends only
use keyway::prelude::*;

fn f(_x: Tensor<Autodiff<Autodiff<Mesh<Flex>>>, 1>) {}

fn main() {}
