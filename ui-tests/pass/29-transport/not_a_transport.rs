// The twin of `fail/29-transport/not_a_transport.rs`.
use keyway::prelude::*;

#[derive(Clone, Debug)]
struct Pigeon;

fn f(_x: Tensor<Mesh<Flex>, 1>) {}

fn main() {}
