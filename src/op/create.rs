use serde::{Deserialize, Serialize};

use super::Meta;
use super::random::Key;
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::shape::Shape;
use crate::with_dtype;

/// The values of a new tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CreateOp {
    /// One value everywhere.
    Full(Scalar),
    /// `start + i * step` along the only axis; integers wrap.
    Arange {
        /// The first value.
        start: Scalar,
        /// The distance between neighbours.
        step: Scalar,
    },
    /// Uniform in `low..high`, bit-equal on every backend; [`super::random`] defines the bits.
    Uniform {
        /// The least value.
        low: f64,
        /// The bound, exclusive.
        high: f64,
        /// Which random numbers.
        key: Key,
    },
    /// Normally distributed.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
        /// Which random numbers.
        key: Key,
    },
}

impl CreateOp {
    /// The name, as error messages give it.
    pub fn name(&self) -> &'static str {
        match self {
            CreateOp::Full(_) => "full",
            CreateOp::Arange { .. } => "arange",
            CreateOp::Uniform { .. } => "uniform",
            CreateOp::Normal { .. } => "normal",
        }
    }
}

/// Validates the creation of a tensor.
///
/// # Errors
/// If the shape overflows, or the op does not take the element type, or its arguments make no sense.
pub fn infer_create(op: &CreateOp, shape: Shape, dtype: DType) -> Result<Meta, Error> {
    let name = op.name();
    match op {
        CreateOp::Full(value) => {
            if !value.fits(dtype) {
                let message = format!("the number {value} is none for {dtype} elements");
                return Err(Error::argument(name, message));
            }
        }
        CreateOp::Arange { .. } => {
            if dtype == DType::Bool {
                return Err(Error::dtype(name, dtype, "a number type"));
            }
            if shape.rank() != 1 {
                return Err(Error::rank(name, shape.rank(), "rank 1"));
            }
        }
        CreateOp::Uniform { low, high, .. } => {
            if !dtype.is_float() {
                return Err(Error::dtype(name, dtype, "a float type"));
            }
            if (high - low).is_nan() || low > high {
                return Err(Error::argument(name, format!("{low}..{high} is not a range")));
            }
            // What values are made of: the bounds, and their distance in `f32` or `f64`.
            let is_held = |x: f64| with_dtype!(dtype, E => E::from_scalar(x.into()).to_scalar().to::<f64>().is_finite());
            let distance = match dtype {
                DType::F64 => high - low,
                _ => f64::from((high - low) as f32),
            };
            if !(is_held(*low) && is_held(*high) && distance.is_finite()) {
                let message = format!("{low:e}..{high:e} reaches farther than {dtype} does");
                return Err(Error::argument(name, message));
            }
        }
        CreateOp::Normal { mean, std, .. } => {
            if !dtype.is_float() {
                return Err(Error::dtype(name, dtype, "a float type"));
            }
            if !(mean.is_finite() && std.is_finite() && *std >= 0.0) {
                return Err(Error::argument(
                    name,
                    format!("mean {mean}, standard deviation {std}"),
                ));
            }
        }
    }
    super::infer::checked(name, shape, dtype)
}
