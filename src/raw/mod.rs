//! Tensors of one backend with run-time rank and element type: the composites are written here, once, for the typed
//! tensors, the fused ops' lowerings, the gradients and run-time dispatch. Every call returns a `Result`.

use std::fmt;

use crate::backend::{Backend, BackendTypes, Readable};
use crate::data::TensorData;
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{self, Arg, HasMeta, Op};
use crate::shape::Shape;

mod activation;
mod collective;
mod conv;
mod create;
mod ctc;
mod deform;
mod elementwise;
pub(crate) mod fourier;
mod grid;
mod index;
mod interpolate;
mod linalg;
mod linear;
mod loss;
mod movement;
mod norm;
mod pool;
mod reduce;
mod signal;
mod slice;
mod unfold;

pub(crate) use collective::group_operations;
pub use conv::ConvTransposeOptions;
pub(crate) use conv::conv_output_size;
pub use create::Distribution;
pub use deform::DeformConvOptions;
pub use grid::{GridIndexing, GridOptions, GridSampleOptions, GridSamplePaddingMode, GridSparsity, IndexPos};
pub use interpolate::{
    CoordinateTransformMode, CubicOptions, InterpolateMode, InterpolateOptions, NearestRoundingMode,
};
pub use linalg::Norm;
pub use linear::{AttentionModuleOptions, CausalAlignment};
pub use pool::PoolOptions;
pub use signal::StftOptions;
pub use slice::{Slice, SliceArgs};
pub use unfold::UnfoldOptions;

/// A tensor of backend `B` whose rank and element type are known at run time only.
///
/// It has the methods of [`Tensor`](crate::Tensor), and the functions of [`activation`](crate::activation),
/// [`grid`](crate::grid), [`linalg`](crate::linalg), [`loss`](crate::loss), [`module`](mod@crate::module) and
/// [`signal`](crate::signal) as methods of their first argument, by
/// the same names and with their arguments in the same order. What is a type there is a value here: an axis is a `usize`,
/// several are a slice or an array, a shape is anything that converts into [`Shape`], an element type is a [`DType`]. An operand is a
/// tensor or a number, so there are no names that end in `_scalar` or `_elem`. A loss stays unreduced ([`Raw::mean`] and
/// [`Raw::sum`] reduce it). Convolutions and pools take the number of spatial axes from the input: `conv2d` is `conv`, `max_pool3d`
/// is `max_pool`, and their options are those of [`module`](mod@crate::module) or, where the number of axes is known at run
/// time only, [`op::ConvOptions`], [`ConvTransposeOptions`] and [`PoolOptions`].
///
/// ```
/// use keyway::{Flex, raw::Raw, DType, TensorData};
/// let x = Raw::<Flex>::from_data(TensorData::new(vec![1.0f32, 4.0], [2])?, &Default::default())?;
/// assert_eq!(x.sqrt()?.into_data()?.as_slice::<f32>()?, &[1.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
pub struct Raw<B: BackendTypes>(B::Primitive);

impl<B: Backend> Raw<B> {
    /// Wraps a backend's tensor.
    pub fn new(primitive: B::Primitive) -> Self {
        Raw(primitive)
    }

    /// The backend's tensor.
    pub fn into_primitive(self) -> B::Primitive {
        self.0
    }

    /// The backend's tensor.
    pub fn primitive(&self) -> &B::Primitive {
        &self.0
    }

    /// Executes an op of the vocabulary.
    ///
    /// # Errors
    /// What [`op::run`] returns.
    pub fn run(op: Op<Raw<B>>) -> Result<Self, Error> {
        op::run::<B>(op.map(|x| x.0)).map(Raw)
    }

    /// Takes values from the host.
    ///
    /// # Errors
    /// If the device does not hold the element type, or fails.
    pub fn from_data(data: TensorData, device: &B::Device) -> Result<Self, Error> {
        held::<B>(data.dtype(), device)?;
        B::upload(data, device).map(Raw)
    }

    /// Reads the values back.
    ///
    /// # Errors
    /// If the device failed.
    pub fn into_data(self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        B::into_data(self.0)
    }

    /// Reads a copy of the values.
    ///
    /// # Errors
    /// As [`Raw::into_data`].
    pub fn to_data(&self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        self.clone().into_data()
    }

    /// Reads the values back, in row-major order.
    ///
    /// # Errors
    /// If the elements are not of type `E`, or as [`Raw::into_data`].
    pub fn into_vec<E: Element>(self) -> Result<Vec<E>, Error>
    where
        B: Readable,
    {
        self.into_data()?.into_vec()
    }

    /// Reads a copy of the values, in row-major order.
    ///
    /// # Errors
    /// As [`Raw::into_vec`].
    pub fn to_vec<E: Element>(&self) -> Result<Vec<E>, Error>
    where
        B: Readable,
    {
        self.clone().into_vec()
    }

    /// Reads the values back, converted to `E` on the host.
    ///
    /// # Errors
    /// As [`Raw::into_data`].
    pub fn into_data_as<E: Element>(self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        Ok(self.into_data()?.cast(E::DTYPE))
    }

    /// Reads a copy of the values, converted to `E` on the host.
    ///
    /// # Errors
    /// As [`Raw::into_data`].
    pub fn to_data_as<E: Element>(&self) -> Result<TensorData, Error>
    where
        B: Readable,
    {
        self.clone().into_data_as::<E>()
    }

    /// Reads the values back, in row-major order, converted to `E` on the host.
    ///
    /// # Errors
    /// As [`Raw::into_data`].
    pub fn into_vec_as<E: Element>(self) -> Result<Vec<E>, Error>
    where
        B: Readable,
    {
        self.into_data_as::<E>()?.into_vec()
    }

    /// Reads a copy of the values, in row-major order, converted to `E` on the host.
    ///
    /// # Errors
    /// As [`Raw::into_data`].
    pub fn to_vec_as<E: Element>(&self) -> Result<Vec<E>, Error>
    where
        B: Readable,
    {
        self.clone().into_vec_as()
    }

    /// Reads the only value back.
    ///
    /// # Errors
    /// If there is not exactly one, or as [`Raw::into_data`].
    pub fn into_scalar(self) -> Result<Scalar, Error>
    where
        B: Readable,
    {
        let shape = self.shape().clone();
        match (shape.num_elements(), self.into_data()?.get(0)) {
            (1, Some(value)) => Ok(value),
            _ => Err(Error::shape(
                "into_scalar",
                &[&shape],
                "there is not exactly one element",
            )),
        }
    }

    /// Where the tensor lives.
    pub fn device(&self) -> B::Device {
        B::device(&self.0)
    }

    /// Moves the tensor to another device of this backend.
    ///
    /// # Errors
    /// If a device fails.
    pub fn to_device(self, device: &B::Device) -> Result<Self, Error> {
        B::to_device(self.0, device).map(Raw)
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        self.0.shape()
    }

    /// The size of an axis, or the error of `op` where there is no such axis.
    pub(crate) fn size(&self, op: &'static str, axis: usize) -> Result<usize, Error> {
        op::in_rank(op, axis, self.rank())?;
        Ok(self.shape()[axis])
    }

    /// An error of `op` if the elements are not floats.
    pub(crate) fn floats(&self, op: &'static str) -> Result<(), Error> {
        floats(op, self.dtype())
    }

    /// An error of `op` if another operand has not the element type of this tensor, which is `what`.
    pub(crate) fn same_dtype(&self, op: &'static str, other: &Self, what: &str) -> Result<(), Error> {
        if other.dtype() == self.dtype() {
            return Ok(());
        }
        let expected = format!("{}, as {what}", self.dtype());
        Err(Error::dtype(op, other.dtype(), expected))
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// Converts to another element type; float to int as Rust's `as`, anything to bool as "is not zero".
    ///
    /// # Errors
    /// If the device does not hold the element type.
    pub fn cast(self, dtype: DType) -> Result<Self, Error> {
        if dtype == self.dtype() {
            return Ok(self);
        }
        held::<B>(dtype, &self.device())?;
        op::run::<B>(Op::Cast(dtype, self.0)).map(Raw)
    }

    /// The elements as `f32`.
    ///
    /// # Errors
    /// As [`Raw::cast`].
    pub fn float(self) -> Result<Self, Error> {
        self.cast(DType::F32)
    }

    /// The elements as `i32`.
    ///
    /// # Errors
    /// As [`Raw::cast`].
    pub fn int(self) -> Result<Self, Error> {
        self.cast(DType::I32)
    }

    /// Whether each element is not zero.
    ///
    /// # Errors
    /// As [`Raw::cast`].
    pub fn bool(self) -> Result<Self, Error> {
        self.cast(DType::Bool)
    }

    /// Half types as `f32`, for what between values and result would overflow or vanish in them.
    pub(crate) fn widen(self) -> Result<Self, Error> {
        let dtype = self.dtype().widened();
        self.cast(dtype)
    }
}

impl<B: BackendTypes> Clone for Raw<B> {
    fn clone(&self) -> Self {
        Raw(self.0.clone())
    }
}

/// What it is, not what it holds.
impl<B: Backend> fmt::Debug for Raw<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = B::name(&self.device());
        write!(f, "Tensor<{name}, {}>{}", self.dtype(), self.shape())
    }
}

impl<B: BackendTypes> HasMeta for Raw<B> {
    fn shape(&self) -> &Shape {
        self.0.shape()
    }
    fn dtype(&self) -> DType {
        self.0.dtype()
    }
}

impl<B: BackendTypes> From<Raw<B>> for Arg<Raw<B>> {
    fn from(x: Raw<B>) -> Self {
        Arg::Tensor(x)
    }
}

impl<B: BackendTypes, E: Element> From<E> for Arg<Raw<B>> {
    fn from(value: E) -> Self {
        Arg::Scalar(value.to_scalar())
    }
}

impl<B: BackendTypes> From<Scalar> for Arg<Raw<B>> {
    fn from(value: Scalar) -> Self {
        Arg::Scalar(value)
    }
}

/// An error of `op` if elements of this type are not floats.
fn floats(op: &'static str, dtype: DType) -> Result<(), Error> {
    if dtype.is_float() {
        return Ok(());
    }
    Err(Error::dtype(op, dtype, "a float type"))
}

fn held<B: Backend>(dtype: DType, device: &B::Device) -> Result<(), Error> {
    let supported = B::dtypes(device);
    if supported.contains(&dtype) {
        return Ok(());
    }
    Err(Error::Unsupported {
        backend: B::name(device),
        got: dtype,
        supported: supported.to_vec(),
    })
}
