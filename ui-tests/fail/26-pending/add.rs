// E0277: not the same backend, rank and element type, and not a number
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>, y: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let total = x.all_reduce_async(ReduceKind::Sum)?;
    let _ = y + total;
    Ok(())
}

fn main() {}
