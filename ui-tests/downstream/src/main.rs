//! Trains two replicas on each backend: `cargo run`.

use downstream::host::Host;
use downstream::train::together;
use keyway::prelude::*;

fn main() -> Result<(), Error> {
    println!("Flex: {}", together::<Flex>(2, 20)?);
    println!("Host: {}", together::<Host>(2, 20)?);
    // What the backend has no loop for is an error, with a text of its own.
    let flipped = Tensor::<Host, 1>::ones([3], &Default::default()).try_apply::<1, f32>(|x| x.flip([0]));
    println!("Host: {}", flipped.expect_err("there is no loop"));
    Ok(())
}
