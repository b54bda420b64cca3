//! New tensors.

use std::ops::Range;

use super::{Nested, Tensor, ok};
use crate::backend::{Backend, Supports};
use crate::data::TensorData;
use crate::element::{Element, FloatElement, IntElement, NumericElement};
use crate::error::Error;
use crate::raw::{Distribution, Raw};

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Zeros; `false` for `bool`.
    ///
    /// # Panics
    /// If the shape exceeds the address space, or the device fails.
    #[track_caller]
    pub fn zeros(shape: [usize; D], device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        Self::of(Raw::zeros(shape, E::DTYPE, device))
    }

    /// Ones; `true` for `bool`.
    ///
    /// # Panics
    /// As [`Tensor::zeros`].
    #[track_caller]
    pub fn ones(shape: [usize; D], device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        Self::of(Raw::ones(shape, E::DTYPE, device))
    }

    /// One value everywhere.
    ///
    /// # Panics
    /// As [`Tensor::zeros`].
    #[track_caller]
    pub fn full(shape: [usize; D], value: E, device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        Self::of(Raw::full(shape, value, E::DTYPE, device))
    }

    /// Zeros of the shape and on the device of this tensor.
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn zeros_like(&self) -> Self {
        Self::of(self.raw.zeros_like())
    }

    /// Ones of the shape and on the device of this tensor.
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn ones_like(&self) -> Self {
        Self::of(self.raw.ones_like())
    }

    /// One value, of the shape and on the device of this tensor.
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn full_like(&self, value: E) -> Self {
        Self::of(self.raw.full_like(value))
    }

    /// Random values. The device's handle holds the source of randomness; `device.seed(n)` makes it start anew.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 2>::random([3, 4], Distribution::Uniform(-1.0, 1.0), &device);
    /// assert!(x.into_vec()?.iter().all(|v| (-1.0..1.0).contains(v)));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`Tensor::zeros`], or if the distribution's arguments make no sense.
    #[track_caller]
    pub fn random(shape: [usize; D], distribution: Distribution, device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        Self::of(Raw::random(shape, distribution, E::DTYPE, device))
    }

    /// Random values, of the shape and on the device of this tensor.
    ///
    /// # Panics
    /// As [`Tensor::random`].
    #[track_caller]
    pub fn random_like(&self, distribution: Distribution) -> Self {
        Self::of(self.raw.random_like(distribution))
    }

    /// The values of nested arrays. Their depth must be `D`, their elements `E`: else it does not compile.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &Default::default());
    /// assert_eq!(x.dims(), [2, 3]);
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn from_array<A: Nested<D, E>>(array: A, device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        Self::from_vec(array.into_elements(), A::DIMS, device)
    }

    /// Values in row-major order.
    ///
    /// # Panics
    /// If they do not fill the shape, or the device fails; [`Tensor::try_from_vec`] returns that.
    #[track_caller]
    pub fn from_vec(values: Vec<E>, shape: [usize; D], device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        ok(Self::try_from_vec(values, shape, device))
    }

    /// Values in row-major order.
    ///
    /// # Errors
    /// If they do not fill the shape, or the device fails.
    pub fn try_from_vec(values: Vec<E>, shape: [usize; D], device: &B::Device) -> Result<Self, Error>
    where
        B: Supports<E>,
    {
        Raw::from_vec(values, shape, device).map(Self::wrap)
    }

    /// Values from the host.
    ///
    /// # Panics
    /// If the data has another rank or element type, or the device fails; [`Tensor::try_from_data`] returns that.
    #[track_caller]
    pub fn from_data(data: TensorData, device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        ok(Self::try_from_data(data, device))
    }

    /// Values from the host.
    ///
    /// # Errors
    /// If the data has another rank or element type, or the device fails.
    pub fn try_from_data(data: TensorData, device: &B::Device) -> Result<Self, Error>
    where
        B: Supports<E>,
    {
        if data.shape().rank() != D {
            return Err(Error::rank("from_data", data.shape().rank(), format!("rank {D}")));
        }
        if data.dtype() != E::DTYPE {
            return Err(Error::dtype("from_data", data.dtype(), E::DTYPE.to_string()));
        }
        Raw::from_data(data, device).map(Self::wrap)
    }

    /// A new last axis of `num_classes` elements: 1 at the index that this tensor holds, 0 elsewhere.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let classes = Tensor::<Flex, 1, i32>::from_array([1, 0], &Default::default());
    /// assert_eq!(classes.one_hot::<2>(3).into_vec()?, [0, 1, 0, 1, 0, 0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If an index is not in `0..num_classes`.
    #[track_caller]
    pub fn one_hot<const D2: usize>(self, num_classes: usize) -> Tensor<B, D2, E>
    where
        E: IntElement,
    {
        const { assert!(D2 == D + 1, "`one_hot` adds one axis: D2 must be D + 1") }
        Tensor::of(self.raw.one_hot(num_classes))
    }
}

impl<B: Backend, E: Element> Tensor<B, 1, E> {
    /// The integers of a range.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, i32>::arange(2..5, &Default::default());
    /// assert_eq!(x.into_vec()?, [2, 3, 4]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn arange(range: Range<i64>, device: &B::Device) -> Self
    where
        B: Supports<E>,
        E: NumericElement,
    {
        Self::of(Raw::arange(range, E::DTYPE, device))
    }

    /// Every `step`-th integer of a range.
    ///
    /// # Panics
    /// If the step is 0, or the device fails.
    #[track_caller]
    pub fn arange_step(range: Range<i64>, step: usize, device: &B::Device) -> Self
    where
        B: Supports<E>,
        E: NumericElement,
    {
        Self::of(Raw::arange_step(range, step, E::DTYPE, device))
    }

    /// `len` values from `start` to `end`, both included, at equal distances.
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn linspace(start: f64, end: f64, len: usize, device: &B::Device) -> Self
    where
        B: Supports<E>,
        E: FloatElement,
    {
        Self::of(Raw::linspace(start, end, len, E::DTYPE, device))
    }
}

impl<B: Backend, E: Element> Tensor<B, 2, E> {
    /// Ones on the main diagonal of a `size × size` matrix, zeros beside it.
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn eye(size: usize, device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        Self::of(Raw::eye(size, E::DTYPE, device))
    }
}
