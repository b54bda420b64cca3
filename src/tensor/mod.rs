//! `Tensor<B, D, E>`: thin typed methods over the run-time ops.

use std::fmt;
use std::marker::PhantomData;

use crate::backend::{Backend, Readable, Supports};
use crate::data::TensorData;
use crate::element::Element;
use crate::error::Error;
use crate::raw::Raw;
use crate::shape::Shape;

mod autodiff;
mod operand;

pub use operand::Operand;

/// A tensor on backend `B` with `D` axes of elements `E`; all three are checked by the compiler.
pub struct Tensor<B: Backend, const D: usize, E: Element = f32> {
    raw: Raw<B>,
    element: PhantomData<E>,
}

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The tensor without its compile-time rank and element type.
    pub fn into_raw(self) -> Raw<B> {
        self.raw
    }

    /// The tensor without its compile-time rank and element type.
    pub fn raw(&self) -> &Raw<B> {
        &self.raw
    }

    /// Checks the rank and the element type of a run-time tensor.
    ///
    /// # Errors
    /// If they are not `D` and `E`.
    pub fn try_from_raw(raw: Raw<B>) -> Result<Self, Error> {
        if raw.rank() != D {
            return Err(Error::rank("try_from_raw", raw.rank(), format!("rank {D}")));
        }
        if raw.dtype() != E::DTYPE {
            return Err(Error::dtype("try_from_raw", raw.dtype(), E::DTYPE.to_string()));
        }
        Ok(Tensor {
            raw,
            element: PhantomData,
        })
    }

    /// The result of an op that gives rank `D` and element type `E` by construction.
    #[track_caller]
    pub(crate) fn of(result: Result<Raw<B>, Error>) -> Self {
        let raw = ok(result);
        debug_assert_eq!((raw.rank(), raw.dtype()), (D, E::DTYPE));
        Tensor {
            raw,
            element: PhantomData,
        }
    }

    /// A tensor of the host's values.
    ///
    /// # Errors
    /// If the data has another rank or element type, or the device fails.
    pub fn try_from_data(data: TensorData, device: &B::Device) -> Result<Self, Error>
    where
        B: Supports<E>,
    {
        Self::try_from_raw(Raw::from_data(data, device)?)
    }

    /// The size along each axis.
    pub fn dims(&self) -> [usize; D] {
        self.raw.shape().dims()
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.raw.shape().clone()
    }

    /// Where the tensor lives.
    pub fn device(&self) -> B::Device {
        self.raw.device()
    }

    /// Reads the values back.
    ///
    /// # Errors
    /// If the device failed.
    pub fn into_data(self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        self.raw.into_data()
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
        let name = B::name(&self.device());
        write!(f, "Tensor<{name}, {}>{}", E::DTYPE, self.raw.shape())
    }
}
