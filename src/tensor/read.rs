//! Reading values back, and moving between devices and backends.

use super::{Tensor, ok};
use crate::backend::{Backend, PlainBackend, Readable, Supports};
use crate::data::TensorData;
use crate::element::Element;
use crate::error::Error;

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Reads the values back.
    ///
    /// # Errors
    /// If the device failed, now or since the last read.
    pub fn into_data(self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        self.raw.into_data()
    }

    /// Reads a copy of the values.
    ///
    /// # Errors
    /// As [`Tensor::into_data`].
    pub fn to_data(&self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        self.raw.to_data()
    }

    /// Reads the values back, in row-major order.
    ///
    /// # Errors
    /// As [`Tensor::into_data`].
    pub fn into_vec(self) -> Result<Vec<E>, Error>
    where
        B: Readable,
    {
        self.raw.into_vec()
    }

    /// Reads the only value back.
    ///
    /// # Errors
    /// If there is not exactly one, or as [`Tensor::into_data`].
    pub fn into_scalar(self) -> Result<E, Error>
    where
        B: Readable,
    {
        Ok(self.raw.into_scalar()?.to())
    }

    /// Moves the tensor to another device of its backend.
    ///
    /// # Panics
    /// If a device fails; [`Tensor::try_to_device`] returns that.
    #[track_caller]
    pub fn to_device(self, device: &B::Device) -> Self {
        ok(self.try_to_device(device))
    }

    /// Moves the tensor to another device of its backend.
    ///
    /// # Errors
    /// If a device fails.
    pub fn try_to_device(self, device: &B::Device) -> Result<Self, Error> {
        self.raw.to_device(device).map(Self::wrap)
    }

    /// Copies the tensor to another backend. Gradients do not pass: a tracked tensor moves its [`inner`](Tensor::inner).
    ///
    /// # Errors
    /// If either device fails.
    pub fn to_backend<B2>(self, device: &B2::Device) -> Result<Tensor<B2, D, E>, Error>
    where
        B: Readable + PlainBackend,
        B2: Backend + Supports<E>,
    {
        Tensor::try_from_data(self.into_data()?, device)
    }
}
