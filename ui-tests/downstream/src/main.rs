//! Trains two replicas on each backend: `cargo run`.

use downstream::host::Host;
use downstream::train::together;
use keyway::prelude::*;
use keyway::{DynDevice, dispatch};

fn main() -> Result<(), Error> {
    println!("Flex: {}", together::<Flex>(2, 20)?);
    println!("Host: {}", together::<Host>(2, 20)?);
    // What the backend has no loop for is an error, with a text of its own.
    let flipped = Tensor::<Host, 1>::ones([3], &Default::default()).try_apply::<1, f32>(|x| x.flip([0]));
    println!("Host: {}", flipped.expect_err("there is no loop"));
    // The arms of `dispatch!` follow keyway's features, not this crate's.
    let mut names = Vec::new();
    for available in DynDevice::available() {
        let device = DynDevice::open(&available.text)?.remove(0);
        names.push(dispatch!(device, |B, device| B::name(&device)).to_string());
    }
    println!("Dyn: {}", names.join(" "));
    Ok(())
}
