//! The way back to types: a device is asked once, and what follows is typed.

/// Runs typed code on the backend of a [`DynDevice`](crate::DynDevice): in the body, `B` is the backend's type and the
/// device is one of `B`.
///
/// The body is compiled once for every backend that keyway was compiled with. A third party's backend
/// ([`DynDevice::custom`](crate::DynDevice::custom)) stays a [`Dyn`](crate::Dyn).
///
/// ```
/// use keyway::prelude::*;
/// use keyway::{DynDevice, dispatch};
/// fn total<B: Backend + Readable>(device: &B::Device) -> Result<f32, Error> {
///     Tensor::<B, 1>::from_array([1.0, 2.0], device).sum().into_scalar()
/// }
/// let device: DynDevice = "flex".parse()?;
/// assert_eq!(dispatch!(device, |B, device| total::<B>(&device))?, 3.0);
/// # Ok::<(), Error>(())
/// ```
#[macro_export]
macro_rules! dispatch {
    ($dev:expr, |$B:ident, $device:ident| $body:expr) => {
        $crate::__keyway_flex!(all {} $dev, $B, $device, $body)
    };
}

/// [`dispatch!`](crate::dispatch) for code that needs a group: a `Result` of the body's value, whose error is
/// [`Error::NotCollective`](crate::Error::NotCollective) for a device that is in none.
///
/// ```
/// use keyway::prelude::*;
/// use keyway::{DynDevice, dispatch_collective};
/// let replicas = DynDevice::open("mesh:flex:2")?.into_iter().map(|device| std::thread::spawn(move || {
///     dispatch_collective!(device, |B, device| {
///         Tensor::<B, 1>::full([1], 1.5, &device).all_reduce(ReduceKind::Sum)?.into_scalar()
///     })?
/// }));
/// for replica in replicas.collect::<Vec<_>>() {
///     assert_eq!(replica.join().unwrap()?, 3.0);
/// }
/// # Ok::<(), Error>(())
/// ```
#[macro_export]
macro_rules! dispatch_collective {
    ($dev:expr, |$B:ident, $device:ident| $body:expr) => {
        $crate::__keyway_flex!(collective {} $dev, $B, $device, $body)
    };
}
