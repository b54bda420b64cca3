// E0599: no method named `into_data` found for struct `keyway::Pending
// A method that `Pending` lacks has no bound that could speak: the message is the compiler's own.
use keyway::prelude::*;

fn f(x: Tensor<Mesh<Flex>, 1>) -> Result<(), keyway::Error> {
    let _ = x.all_reduce_async(ReduceKind::Sum)?.into_data();
    Ok(())
}

fn main() {}
