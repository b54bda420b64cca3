//! Run-time dispatch between two backends.

use keyway::{Flex, Mesh};

keyway::backends! {
    /// `Flex` or `Mesh<Flex>`, as the device says.
    pub struct Either;
    /// A device of either.
    pub enum EitherDevice;
    /// A tensor of either.
    pub enum EitherTensor;
    One(Flex),
    Other(Mesh<Flex>),
}
