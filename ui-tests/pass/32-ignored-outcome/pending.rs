// The twin of `fail/32-ignored-outcome/pending.rs`.
#![deny(unused_must_use)]
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let _ = x.all_reduce_async(ReduceKind::Sum)?;
    Ok(())
}

fn main() {}
