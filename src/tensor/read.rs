//! Reading values back, and moving between devices and backends.

use super::{Tensor, ok};
use crate::backend::{Backend, PlainBackend, Readable, Supports};
use crate::data::TensorData;
use crate::element::Element;
use crate::error::Error;

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Reads the values back, with their shape and element type. It waits for the device.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0]], &Default::default());
    /// let data = x.into_data()?;
    /// assert_eq!((data.shape().to_vec(), data.dtype()), (vec![1, 2], keyway::DType::F32));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the device failed, now or since the last read.
    pub fn into_data(self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        self.raw.into_data()
    }

    /// [`Tensor::into_data`] that leaves the tensor.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0]], &Default::default());
    /// let before = x.to_data()?;
    /// assert_eq!((x * 1.0).into_data()?, before);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0]], &Default::default());
    /// assert_eq!(x.into_vec()?, [1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0]], &Default::default());
    /// assert_eq!(x.clone().sum().into_scalar()?, 3.0);
    /// assert!(x.into_scalar().is_err()); // two values
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let (a, b) = (FlexDevice::default(), FlexDevice::default());
    /// let x = Tensor::<Flex, 1>::ones([2], &a);
    /// assert_eq!(x.to_device(&b).device(), b);
    /// ```
    ///
    /// # Panics
    /// If a device fails; [`Tensor::try_to_device`] returns that.
    #[track_caller]
    pub fn to_device(self, device: &B::Device) -> Self {
        ok(self.try_to_device(device))
    }

    /// [`Tensor::to_device`], with what went wrong as a value.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let (a, b) = (FlexDevice::default(), FlexDevice::default());
    /// let x = Tensor::<Flex, 1>::ones([2], &a).try_to_device(&b)?;
    /// assert_eq!(x.device(), b);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a device fails.
    pub fn try_to_device(self, device: &B::Device) -> Result<Self, Error> {
        self.raw.to_device(device).map(Self::wrap)
    }

    /// Copies the tensor to another backend, through the host. Gradients do not pass: a tracked tensor moves its
    /// [`inner`](Tensor::inner).
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::ones([2], &Default::default());
    /// let members = Mesh::<Flex>::open(1)?;
    /// let y: Tensor<Mesh<Flex>, 1> = x.to_backend(&members[0])?;
    /// assert_eq!(y.into_vec()?, [1.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

/// Copies and conversions on the host.
impl<B: Readable, const D: usize, E: Element> Tensor<B, D, E> {
    /// Reads a copy of the values, in row-major order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.to_vec()?, [1.0, 2.0]);
    /// assert_eq!(x.to_vec_as::<u8>()?, [1, 2]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::into_data`].
    pub fn to_vec(&self) -> Result<Vec<E>, Error> {
        self.raw.to_vec()
    }

    /// Reads the values back, converted to `E2` on the host as [`Tensor::cast`] converts.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.5, -2.0], &Default::default());
    /// assert_eq!(x.into_data_as::<i64>()?.as_slice::<i64>()?, [1, -2]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::into_data`].
    pub fn into_data_as<E2: Element>(self) -> Result<TensorData, Error> {
        self.raw.into_data_as::<E2>()
    }

    /// [`Tensor::into_data_as`] of a copy.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.5, 0.0], &Default::default());
    /// assert_eq!(x.to_data_as::<bool>()?.as_slice::<bool>()?, [true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::into_data`].
    pub fn to_data_as<E2: Element>(&self) -> Result<TensorData, Error> {
        self.raw.to_data_as::<E2>()
    }

    /// Reads the values back, in row-major order, converted to `E2` on the host as [`Tensor::cast`] converts.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, i32>::from_array([1, 0], &Default::default());
    /// assert_eq!(x.into_vec_as::<bool>()?, [true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::into_data`].
    pub fn into_vec_as<E2: Element>(self) -> Result<Vec<E2>, Error> {
        self.raw.into_vec_as()
    }

    /// [`Tensor::into_vec_as`] of a copy.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, i32>::from_array([300, -1], &Default::default());
    /// assert_eq!(x.to_vec_as::<f64>()?, [300.0, -1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::into_data`].
    pub fn to_vec_as<E2: Element>(&self) -> Result<Vec<E2>, Error> {
        self.raw.to_vec_as()
    }
}
