//! New tensors.

use std::ops::Range;

use super::{AsDim, Nested, Tensor, ok};
use crate::backend::{Backend, Supports};
use crate::data::TensorData;
use crate::element::{Element, FloatElement, IntElement, NumericElement, Scalar};
use crate::error::Error;
use crate::raw::{Distribution, Raw};

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Zeros; `false` for `bool`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// assert_eq!(Tensor::<Flex, 2>::zeros([1, 2], &device).into_vec()?, [0.0, 0.0]);
    /// assert_eq!(Tensor::<Flex, 1, bool>::zeros([1], &device).into_vec()?, [false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// assert_eq!(Tensor::<Flex, 2>::ones([1, 2], &device).into_vec()?, [1.0, 1.0]);
    /// assert_eq!(Tensor::<Flex, 1, bool>::ones([1], &device).into_vec()?, [true]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2, i32>::full([1, 2], 7, &Default::default());
    /// assert_eq!(x.into_vec()?, [7, 7]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.zeros_like().into_vec()?, [0.0, 0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn zeros_like(&self) -> Self {
        Self::of(self.raw.zeros_like())
    }

    /// Ones of the shape and on the device of this tensor.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.ones_like().into_vec()?, [1.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn ones_like(&self) -> Self {
        Self::of(self.raw.ones_like())
    }

    /// One value, of the shape and on the device of this tensor.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.full_like(7.0).into_vec()?, [7.0, 7.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// let device = FlexDevice::default();
    /// let draw = || Tensor::<Flex, 1>::random([3], Distribution::Uniform(-1.0, 1.0), &device).into_vec();
    /// device.seed(7);
    /// let first = draw()?;
    /// assert!(first.iter().all(|x| (-1.0..1.0).contains(x)));
    /// device.seed(7);
    /// assert_eq!(draw()?, first);
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

    /// Random values, of the shape and on the device of this tensor. [`Tensor::random`] says how to repeat them.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.random_like(Distribution::Bernoulli(1.0)).into_vec()?, [1.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_vec(vec![1.0, 2.0, 3.0, 4.0], [2, 2], &Default::default());
    /// assert_eq!(x.narrow(0, 1, 1).into_vec()?, [3.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

    /// [`Tensor::from_vec`], with what went wrong as a value.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// assert!(Tensor::<Flex, 2>::try_from_vec(vec![1.0, 2.0, 3.0, 4.0], [2, 2], &device).is_ok());
    /// assert!(Tensor::<Flex, 2>::try_from_vec(vec![1.0, 2.0, 3.0], [2, 2], &device).is_err());
    /// ```
    ///
    /// # Errors
    /// If they do not fill the shape, or the device fails.
    pub fn try_from_vec(values: Vec<E>, shape: [usize; D], device: &B::Device) -> Result<Self, Error>
    where
        B: Supports<E>,
    {
        Raw::from_vec(values, shape, device).map(Self::wrap)
    }

    /// Values from the host, whose rank and element type are known at run time only.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let data = TensorData::new(vec![1.0f32, 2.0], [2])?;
    /// let x = Tensor::<Flex, 1>::from_data(data, &Default::default());
    /// assert_eq!(x.into_vec()?, [1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

    /// [`Tensor::from_data`], with what went wrong as a value.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let data = TensorData::new(vec![1.0f32, 2.0], [2])?;
    /// let device = Default::default();
    /// assert!(Tensor::<Flex, 1>::try_from_data(data.clone(), &device).is_ok());
    /// assert!(Tensor::<Flex, 2>::try_from_data(data.clone(), &device).is_err());
    /// assert!(Tensor::<Flex, 1, i32>::try_from_data(data, &device).is_err());
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// The integers of a range, in order; none if it is empty.
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

    /// The first integer of a range and every `step`-th after it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, i32>::arange_step(0..7, 3, &Default::default());
    /// assert_eq!(x.into_vec()?, [0, 3, 6]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::linspace(0.0, 1.0, 5, &Default::default());
    /// assert_eq!(x.into_vec()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::eye(2, &Default::default());
    /// assert_eq!(x.into_vec()?, [1.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

/// Other ways to begin.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// [`Tensor::zeros`]: memory that nobody wrote cannot be read.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::empty([1, 2], &Default::default());
    /// assert_eq!(x.into_vec()?, [0.0, 0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`Tensor::zeros`].
    #[track_caller]
    pub fn empty(shape: [usize; D], device: &B::Device) -> Self
    where
        B: Supports<E>,
    {
        Self::of(Raw::empty(shape, E::DTYPE, device))
    }

    /// [`Tensor::zeros_like`].
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::ones([2], &Default::default());
    /// assert_eq!(x.empty_like().into_vec()?, [0.0, 0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn empty_like(&self) -> Self {
        Self::of(self.raw.empty_like())
    }

    /// Takes the tensor out, for what needs one of its own, and leaves zeros with axes of size 0.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let mut x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.extract().into_vec()?, [1.0, 2.0]);
    /// assert_eq!(x.dims(), [0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn extract(&mut self) -> Self {
        Self::of(self.raw.extract())
    }

    /// Puts what `f` makes of the tensor in its place. `f` owns it, so that ops can reuse its buffer where nobody else
    /// holds it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let mut x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// x.inplace(|x| x * 2.0);
    /// assert_eq!(x.into_vec()?, [2.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn inplace(&mut self, f: impl FnOnce(Self) -> Self) {
        *self = f(self.extract());
    }

    /// A new axis of `num_classes` elements at place `axis` of the result: `on_value` at the index that this tensor holds,
    /// which may count from the end (-1), and `off_value` elsewhere; everywhere, for an index that is none. Fractions of an
    /// index are cut off.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let classes = Tensor::<Flex, 1>::from_array([1.0, -1.0, 7.0], &Default::default());
    /// let smooth = classes.one_hot_fill::<2>(3, 0.5, 0.25, -1);
    /// assert_eq!(smooth.into_vec()?, [0.25, 0.5, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25, 0.25]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the result has no such axis, or a value is none for elements `E`.
    #[track_caller]
    pub fn one_hot_fill<const D2: usize>(
        self,
        num_classes: usize,
        on_value: impl Into<Scalar>,
        off_value: impl Into<Scalar>,
        axis: impl AsDim,
    ) -> Tensor<B, D2, E>
    where
        E: NumericElement,
    {
        const { assert!(D2 == D + 1, "`one_hot_fill` adds one axis: D2 must be D + 1") }
        Tensor::of(
            self.raw
                .one_hot_fill(num_classes, on_value, off_value, axis.axis(D2)),
        )
    }

    /// Draws `num_samples` indices of the last axis, with repetition: the weights that it holds, 0 or more, are in
    /// proportion to the probabilities. The last axis of the result holds the samples. What it draws where no weight is
    /// positive, or one is NaN or infinite, is some index.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let weights = Tensor::<Flex, 2>::from_array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.1]], &Default::default());
    /// assert_eq!(weights.categorical(2).into_vec()?, [1, 1, 2, 2]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are no samples to draw, or no classes to draw from.
    #[track_caller]
    pub fn categorical(self, num_samples: usize) -> Tensor<B, D, i32>
    where
        E: FloatElement,
    {
        const {
            assert!(
                D >= 1,
                "`categorical` draws along the last axis: it needs rank 1 or more"
            )
        }
        Tensor::of(self.raw.categorical(num_samples))
    }
}

impl<B: Backend, const D: usize> Tensor<B, D, f32> {
    /// [`Tensor::from_array`] of `f32`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_floats([[1.0, 2.0]], &Default::default());
    /// assert_eq!(x.dims(), [1, 2]);
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn from_floats<A: Nested<D, f32>>(floats: A, device: &B::Device) -> Self {
        Self::from_array(floats, device)
    }
}

impl<B: Backend, const D: usize> Tensor<B, D, i32> {
    /// [`Tensor::from_array`] of `i32`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, i32>::from_ints([3, -4], &Default::default());
    /// assert_eq!(x.into_vec()?, [3, -4]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn from_ints<A: Nested<D, i32>>(ints: A, device: &B::Device) -> Self {
        Self::from_array(ints, device)
    }
}

impl<B: Backend, const D: usize> Tensor<B, D, bool> {
    /// [`Tensor::from_array`] of `bool`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, bool>::from_bool([true, false], &Default::default());
    /// assert_eq!(x.into_vec()?, [true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn from_bool<A: Nested<D, bool>>(bools: A, device: &B::Device) -> Self {
        Self::from_array(bools, device)
    }

    /// A mask for `mask_fill`: false in the upper triangle of the last two axes, from diagonal `offset` on, and true below
    /// it. Diagonal 0 is the main one, positive ones lie above it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let mask = Tensor::<Flex, 2, bool>::triu_mask([2, 2], 0, &Default::default());
    /// assert_eq!(mask.into_vec()?, [false, false, true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shape exceeds the address space, or the device fails.
    #[track_caller]
    pub fn triu_mask(shape: [usize; D], offset: i64, device: &B::Device) -> Self {
        const {
            assert!(
                D >= 2,
                "`triu_mask` is of the last two axes: it needs rank 2 or more"
            )
        }
        Self::of(Raw::triu_mask(shape, offset, device))
    }

    /// A mask for `mask_fill`: false in the lower triangle of the last two axes, up to diagonal `offset`, and true above
    /// it. Diagonal 0 is the main one, positive ones lie above it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let hidden = Tensor::<Flex, 2, bool>::tril_mask([2, 2], 0, &Default::default());
    /// assert_eq!(hidden.into_vec()?, [false, true, false, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shape exceeds the address space, or the device fails.
    #[track_caller]
    pub fn tril_mask(shape: [usize; D], offset: i64, device: &B::Device) -> Self {
        const {
            assert!(
                D >= 2,
                "`tril_mask` is of the last two axes: it needs rank 2 or more"
            )
        }
        Self::of(Raw::tril_mask(shape, offset, device))
    }

    /// A mask for `mask_fill`: false on diagonal `offset` of the last two axes, and true beside it. Diagonal 0 is the main
    /// one, positive ones lie above it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let beside = Tensor::<Flex, 2, bool>::diag_mask([2, 2], 0, &Default::default());
    /// assert_eq!(beside.into_vec()?, [false, true, true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shape exceeds the address space, or the device fails.
    #[track_caller]
    pub fn diag_mask(shape: [usize; D], offset: i64, device: &B::Device) -> Self {
        const {
            assert!(
                D >= 2,
                "`diag_mask` is of the last two axes: it needs rank 2 or more"
            )
        }
        Self::of(Raw::diag_mask(shape, offset, device))
    }
}
