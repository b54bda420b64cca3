// The twin of `fail/26-pending/add.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>, y: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let total = x.all_reduce_async(ReduceKind::Sum)?.wait()?;
    let _ = y + total;
    Ok(())
}

fn main() {}
