//! Several tensors read at once.

use super::Tensor;
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::element::Element;
use crate::error::Error;
use crate::raw::Raw;

/// Tensors of one backend, of any rank and element type, to be read together.
///
/// ```
/// use keyway::Transaction;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let loss = Tensor::<Flex, 1>::from_array([0.5], &device);
/// let classes = Tensor::<Flex, 2, i32>::from_array([[1, 0]], &device);
/// let data = Transaction::default().register(loss).register(classes).execute()?;
/// assert_eq!(data[0].as_slice::<f32>()?, [0.5]);
/// assert_eq!(data[1].as_slice::<i32>()?, [1, 0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[must_use = "a transaction reads when it is executed"]
pub struct Transaction<B: Backend> {
    tensors: Vec<Raw<B>>,
}

impl<B: Backend> Transaction<B> {
    /// Adds a tensor.
    pub fn register<const D: usize, E: Element>(self, tensor: Tensor<B, D, E>) -> Self {
        self.register_raw(tensor.into_raw())
    }

    /// Adds a tensor of run-time rank and element type.
    pub fn register_raw(mut self, tensor: Raw<B>) -> Self {
        self.tensors.push(tensor);
        self
    }

    /// Reads the values of all, in the order in which they were registered.
    ///
    /// # Errors
    /// If a device failed, now or since the last read; then nothing is given.
    pub fn execute(self) -> Result<Vec<TensorData>, Error>
    where
        B: Readable,
    {
        self.tensors.into_iter().map(Raw::into_data).collect()
    }
}

impl<B: Backend> Default for Transaction<B> {
    fn default() -> Self {
        Transaction { tensors: Vec::new() }
    }
}
