// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

fn total(x: Tensor<Flex, 1>) -> Tensor<Flex, 1> {
    x.all_reduce(ReduceKind::Sum).unwrap()
}

fn main() {}
