// E0277: lift it into a group of replicas with `Mesh<keyway::Flex>`
use keyway::prelude::*;

fn total(x: Tensor<Autodiff<Flex>, 1>) {
    let _ = x.all_reduce(ReduceKind::Sum);
}

fn main() {}
