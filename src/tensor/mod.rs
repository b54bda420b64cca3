//! `Tensor<B, D, E>`: thin typed methods over the run-time ops.

use std::fmt;
use std::marker::PhantomData;

use crate::backend::Backend;
use crate::element::{DType, Element};
use crate::error::Error;
use crate::raw::Raw;
use crate::shape::Shape;

/// The example of a method that a macro makes: operands of rank `D` and element type `T`, by default `f32`, a call on them,
/// and what its result prints.
macro_rules! example {
    ($D:literal $($T:ident)? $x:literal; $name:ident($args:expr) => $prints:expr) => {
        concat!(
            "```\nuse keyway::prelude::*;",
            "\nlet x = Tensor::<Flex, ", $D, $(", ", stringify!($T),)? ">::from_array(", $x, ", &Default::default());",
            "\nassert_eq!(x.", stringify!($name), "(", $args, ").to_string(), \"", $prints, "\");\n```",
        )
    };
    ($D:literal $($T:ident)? $x:literal, $y:literal; $name:ident($args:expr) => $prints:expr) => {
        concat!(
            "```\nuse keyway::prelude::*;\nlet device = Default::default();",
            "\nlet x = Tensor::<Flex, ", $D, $(", ", stringify!($T),)? ">::from_array(", $x, ", &device);",
            "\nlet y = Tensor::from_array(", $y, ", &device);",
            "\nassert_eq!(x.", stringify!($name), "(", $args, ").to_string(), \"", $prints, "\");\n```",
        )
    };
}

pub mod activation;
mod autodiff;
mod collective;
mod compare;
mod create;
mod dim;
mod display;
mod elementwise;
pub mod grid;
mod index;
pub mod linalg;
pub mod loss;
pub mod module;
mod movement;
mod nested;
mod operand;
mod ops;
mod read;
mod reduce;
pub mod signal;
mod transaction;

pub use dim::{AsDim, ExpandArgs, MovedimArgs, ReshapeArgs};
pub use display::{PrintOptions, set_print_options};
pub use nested::Nested;
pub use operand::{BitElement, Operand};
pub use transaction::Transaction;

/// A tensor on backend `B` with `D` axes of elements `E`; all three are checked by the compiler.
///
/// Numbers have the operators `+ - * / %` and unary `-`; integers have `& | ^ << >>` and `!` besides, and so have `bool`s,
/// but for the shifts. Operands are tensors, by value or by reference, whose shapes broadcast, and numbers.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
/// let row = Tensor::from_array([[10.0, 20.0]], &device);
/// assert_eq!((&x * 2.0 + row).into_vec()?, [12.0, 24.0, 16.0, 28.0]);
/// let odd = (&x % 2.0).greater(0.0);
/// assert_eq!((1.0 - x).mask_fill(!odd, 0.0).into_vec()?, [0.0, 0.0, -2.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
pub struct Tensor<B: Backend, const D: usize, E: Element = f32> {
    raw: Raw<B>,
    element: PhantomData<E>,
}

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The tensor without its compile-time rank and element type.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// assert_eq!(x.into_raw().dtype(), keyway::DType::F32);
    /// ```
    pub fn into_raw(self) -> Raw<B> {
        self.raw
    }

    /// A reference to the tensor without its compile-time rank and element type.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// assert_eq!(x.raw().rank(), 2);
    /// ```
    pub fn raw(&self) -> &Raw<B> {
        &self.raw
    }

    /// The run-time tensor as a typed one, after a check of its rank and element type.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// let raw = x.into_raw();
    /// assert!(Tensor::<Flex, 2>::try_from_raw(raw.clone()).is_ok());
    /// assert!(Tensor::<Flex, 3>::try_from_raw(raw).is_err());
    /// ```
    ///
    /// # Errors
    /// If its rank is not `D`, or its elements are not `E`.
    pub fn try_from_raw(raw: Raw<B>) -> Result<Self, Error> {
        if raw.rank() != D {
            return Err(Error::rank("try_from_raw", raw.rank(), format!("rank {D}")));
        }
        if raw.dtype() != E::DTYPE {
            return Err(Error::dtype("try_from_raw", raw.dtype(), E::DTYPE.to_string()));
        }
        Ok(Self::wrap(raw))
    }

    /// The result of an op whose rank the arguments decide.
    #[track_caller]
    pub(crate) fn of_rank(op: &'static str, result: Result<Raw<B>, Error>) -> Self {
        Self::of(result.and_then(|raw| match raw.rank() {
            rank if rank == D => Ok(raw),
            rank => Err(Error::argument(
                op,
                format!("the result has rank {rank}, not {D}"),
            )),
        }))
    }

    /// The result of an op that gives rank `D` and element type `E` by construction.
    #[track_caller]
    pub(crate) fn of(result: Result<Raw<B>, Error>) -> Self {
        Self::wrap(ok(result))
    }

    /// As [`Tensor::of`], of two results.
    #[track_caller]
    pub(crate) fn of_pair<E2: Element>(result: Result<(Raw<B>, Raw<B>), Error>) -> (Self, Tensor<B, D, E2>) {
        let (a, b) = ok(result);
        (Self::wrap(a), Tensor::wrap(b))
    }

    /// The backend's tensor.
    pub(crate) fn into_primitive(self) -> B::Primitive {
        self.raw.into_primitive()
    }

    /// A backend's tensor of rank `D` and element type `E`.
    pub(crate) fn from_primitive(primitive: B::Primitive) -> Self {
        Self::wrap(Raw::new(primitive))
    }

    fn wrap(raw: Raw<B>) -> Self {
        debug_assert_eq!((raw.rank(), raw.dtype()), (D, E::DTYPE));
        Tensor {
            raw,
            element: PhantomData,
        }
    }

    /// The size along each axis, as an array.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// let [rows, columns] = x.dims();
    /// assert_eq!((rows, columns), (2, 3));
    /// ```
    pub fn dims(&self) -> [usize; D] {
        self.raw.shape().dims()
    }

    /// The size along each axis, as a [`Shape`].
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// assert_eq!(x.shape().num_elements(), 6);
    /// ```
    pub fn shape(&self) -> Shape {
        self.raw.shape().clone()
    }

    /// The number of axes, `D`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// assert_eq!(Tensor::<Flex, 2>::zeros([2, 3], &Default::default()).rank(), 2);
    /// ```
    pub fn rank(&self) -> usize {
        D
    }

    /// The element type, `E`, as a value.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// assert_eq!(Tensor::<Flex, 1, u8>::zeros([3], &Default::default()).dtype(), keyway::DType::U8);
    /// ```
    pub fn dtype(&self) -> DType {
        E::DTYPE
    }

    /// Where the tensor lives.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = FlexDevice::default();
    /// assert_eq!(Tensor::<Flex, 1>::zeros([3], &device).device(), device);
    /// ```
    pub fn device(&self) -> B::Device {
        self.raw.device()
    }

    /// Applies run-time ops, whose every failure comes back as a value. [`Raw`] has the ops and
    /// composites that the typed methods are made of.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// let y: Tensor<_, 1> = x.clone().try_apply(|x| x.reshape([6]))?;
    /// assert_eq!(y.dims(), [6]);
    /// assert!(x.try_apply::<1, f32>(|x| x.reshape([7])).is_err());
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `f` returns, or if its result has not rank `D2` or not elements `E2`.
    pub fn try_apply<const D2: usize, E2: Element>(
        self,
        f: impl FnOnce(Raw<B>) -> Result<Raw<B>, Error>,
    ) -> Result<Tensor<B, D2, E2>, Error> {
        Tensor::try_from_raw(f(self.raw)?)
    }
}

/// The value, or a panic with the error's text at the caller of the public method.
#[track_caller]
pub(crate) fn ok<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

impl<B: Backend, const D: usize, E: Element> Clone for Tensor<B, D, E> {
    fn clone(&self) -> Self {
        Tensor {
            raw: self.raw.clone(),
            element: PhantomData,
        }
    }
}

impl<B: Backend, const D: usize, E: Element> fmt::Debug for Tensor<B, D, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}
