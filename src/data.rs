//! Values on the host: what goes into a backend and comes back.

use serde::{Deserialize, Serialize};

use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::shape::Shape;
use crate::with_dtype;
use half::{bf16, f16};

mod bytes;

/// A vector of any element type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Buffer {
    F64(Vec<f64>),
    F32(Vec<f32>),
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    I64(Vec<i64>),
    I32(Vec<i32>),
    I16(Vec<i16>),
    I8(Vec<i8>),
    U64(Vec<u64>),
    U32(Vec<u32>),
    U16(Vec<u16>),
    U8(Vec<u8>),
    Bool(Vec<bool>),
}

/// Runs `$body` with `$v` bound to the typed vector inside a `Buffer`.
#[macro_export]
#[doc(hidden)]
macro_rules! with_buffer {
    ($buffer:expr, $v:ident => $body:expr) => {
        match $buffer {
            $crate::Buffer::F64($v) => $body,
            $crate::Buffer::F32($v) => $body,
            $crate::Buffer::F16($v) => $body,
            $crate::Buffer::BF16($v) => $body,
            $crate::Buffer::I64($v) => $body,
            $crate::Buffer::I32($v) => $body,
            $crate::Buffer::I16($v) => $body,
            $crate::Buffer::I8($v) => $body,
            $crate::Buffer::U64($v) => $body,
            $crate::Buffer::U32($v) => $body,
            $crate::Buffer::U16($v) => $body,
            $crate::Buffer::U8($v) => $body,
            $crate::Buffer::Bool($v) => $body,
        }
    };
}

impl Buffer {
    /// The element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        fn of<E: Element>(_: &[E]) -> DType {
            E::DTYPE
        }
        with_buffer!(self, v => of(v))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        with_buffer!(self, v => v.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A tensor's values on the host, in row-major order.
///
/// ```
/// use keyway::TensorData;
/// let data = TensorData::new(vec![1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(data.as_slice::<f32>()?, &[1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct TensorData {
    buffer: Buffer,
    shape: Shape,
}

/// [`TensorData`] as it is read: the number of values may be another than that of the shape.
#[derive(Deserialize)]
#[serde(rename = "TensorData")]
struct Unchecked {
    buffer: Buffer,
    shape: Shape,
}

impl TryFrom<Unchecked> for TensorData {
    type Error = Error;
    fn try_from(Unchecked { buffer, shape }: Unchecked) -> Result<Self, Error> {
        TensorData::from_buffer(buffer, shape)
    }
}

impl TensorData {
    /// Values in row-major order.
    ///
    /// # Errors
    /// If their number is not that of the shape.
    pub fn new<E: Element>(values: Vec<E>, shape: impl Into<Shape>) -> Result<Self, Error> {
        Self::from_buffer(E::into_buffer(values), shape.into())
    }

    /// A buffer in row-major order.
    ///
    /// # Errors
    /// If its length is not that of the shape.
    pub fn from_buffer(buffer: Buffer, shape: Shape) -> Result<Self, Error> {
        if shape.checked_elements() != Some(buffer.len()) {
            return Err(Error::argument(
                "data",
                format!("{} values do not fill the shape {shape}", buffer.len()),
            ));
        }
        Ok(TensorData { buffer, shape })
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.buffer.dtype()
    }

    /// The values.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The values and the shape.
    pub fn into_parts(self) -> (Buffer, Shape) {
        (self.buffer, self.shape)
    }

    /// The values, if they are of type `E`.
    ///
    /// # Errors
    /// If they are of another type.
    pub fn as_slice<E: Element>(&self) -> Result<&[E], Error> {
        E::slice(&self.buffer).ok_or_else(|| Error::dtype("as_slice", self.dtype(), E::DTYPE.to_string()))
    }

    /// The values, if they are of type `E`.
    ///
    /// # Errors
    /// If they are of another type.
    pub fn into_vec<E: Element>(self) -> Result<Vec<E>, Error> {
        E::from_buffer(self.buffer)
            .map_err(|buffer| Error::dtype("into_vec", buffer.dtype(), E::DTYPE.to_string()))
    }

    /// Every value, converted to `E`.
    pub fn iter<E: Element>(&self) -> Box<dyn Iterator<Item = E> + '_> {
        with_buffer!(&self.buffer, v => Box::new(v.iter().map(|&x| x.to_scalar().to::<E>())))
    }

    /// The values converted to another element type.
    pub fn cast(self, dtype: DType) -> Self {
        if dtype == self.dtype() {
            return self;
        }
        let buffer = with_dtype!(dtype, E => E::into_buffer(self.iter::<E>().collect()));
        TensorData {
            buffer,
            shape: self.shape,
        }
    }

    /// The value at a row-major position.
    pub fn get(&self, position: usize) -> Option<Scalar> {
        with_buffer!(&self.buffer, v => v.get(position).map(|&x| x.to_scalar()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deserialised_values_fill_their_shape() {
        let data = TensorData::new(vec![1i32, 2], [2, 1]).unwrap();
        let text = serde_json::to_string(&data).unwrap();
        assert_eq!(serde_json::from_str::<TensorData>(&text).unwrap(), data);
        let wrong = serde_json::from_str::<TensorData>(&text.replace("[2,1]", "[2,2]")).unwrap_err();
        assert!(
            wrong
                .to_string()
                .contains("2 values do not fill the shape [2, 2]"),
            "{wrong}"
        );
    }
}
