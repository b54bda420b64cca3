// The twin of `fail/26-pending/argument.rs`.
use keyway::prelude::*;

fn norm(x: Tensor<Mesh<Flex>, 1>) -> Tensor<Mesh<Flex>, 1> {
    x.square().sum()
}

fn f(x: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let _ = norm(x.all_reduce_async(ReduceKind::Mean)?.wait()?);
    Ok(())
}

fn main() {}
