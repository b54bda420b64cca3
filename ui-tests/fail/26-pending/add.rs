// E0277: a pending collective result is a tensor after `.wait()?`
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>, y: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let total = x.all_reduce_async(ReduceKind::Sum)?;
    let _ = y + total;
    Ok(())
}

fn main() {}
