// lint: that must be used
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    x.all_reduce_async(ReduceKind::Sum)?;
    Ok(())
}

fn main() {}
