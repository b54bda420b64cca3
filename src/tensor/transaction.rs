//! Several tensors read in one call.

use super::Tensor;
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::element::Element;
use crate::error::Error;
use crate::raw::Raw;

/// Tensors of one backend, of any rank and element type, to be read in order: all of them, or none.
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
    ///
    /// ```
    /// use keyway::Transaction;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// assert_eq!(Transaction::default().register(x).execute()?[0].shape()[..], [2, 3]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn register<const D: usize, E: Element>(self, tensor: Tensor<B, D, E>) -> Self {
        self.register_raw(tensor.into_raw())
    }

    /// Adds a tensor of run-time rank and element type.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// use keyway::{DType, DynDevice, DynTensor, Transaction};
    /// let x = DynTensor::zeros([2, 3], DType::F32, &DynDevice::default())?;
    /// assert_eq!(Transaction::default().register_raw(x).execute()?[0].shape()[..], [2, 3]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn register_raw(mut self, tensor: Raw<B>) -> Self {
        self.tensors.push(tensor);
        self
    }

    /// Reads the values of all, in the order in which they were registered.
    ///
    /// ```
    /// use keyway::Transaction;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0], &Default::default());
    /// let data = Transaction::default().register(x.clone() + 1.0).register(x).execute()?;
    /// assert_eq!((data[0].as_slice::<f32>()?, data[1].as_slice::<f32>()?), (&[2.0][..], &[1.0][..]));
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
