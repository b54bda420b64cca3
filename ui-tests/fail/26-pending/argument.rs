// E0308: found `Pending
use keyway::prelude::*;

fn norm(x: Tensor<Mesh<Flex>, 1>) -> Tensor<Mesh<Flex>, 1> {
    x.square().sum()
}

fn f(x: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let _ = norm(x.all_reduce_async(ReduceKind::Mean)?);
    Ok(())
}

fn main() {}
