// The twin of `fail/26-pending/read.rs`.
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let _ = x.all_reduce_async(ReduceKind::Sum)?.wait()?.into_data();
    Ok(())
}

fn main() {}
