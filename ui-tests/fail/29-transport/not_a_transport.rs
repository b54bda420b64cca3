// E0277: cannot carry the memory of
use keyway::prelude::*;

#[derive(Clone, Debug)]
struct Pigeon;

fn f(_x: Tensor<Mesh<Flex, Pigeon>, 1>) {}

fn main() {}
