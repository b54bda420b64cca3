//! Values as bytes, for files and for comparing bit by bit.

use super::TensorData;
use crate::element::{DType, Element};
use crate::error::Error;
use crate::shape::Shape;
use crate::{bf16, f16, with_buffer, with_dtype};

impl TensorData {
    /// The bytes of the values, little-endian, in row-major order. Equal bytes are equal values, NaNs and the sign of
    /// zero included.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        with_buffer!(&self.buffer, v => v.iter().flat_map(|&x| LittleEndian::bytes(x)).collect())
    }

    /// Values of their little-endian bytes, in row-major order.
    ///
    /// # Errors
    /// If their number is not that of the shape.
    pub fn from_le_bytes(bytes: &[u8], dtype: DType, shape: impl Into<Shape>) -> Result<Self, Error> {
        if !bytes.len().is_multiple_of(dtype.size()) {
            let message = format!("{} bytes are not a whole number of {dtype} elements", bytes.len());
            return Err(Error::argument("from_le_bytes", message));
        }
        let buffer = with_dtype!(dtype, E => E::into_buffer(bytes.chunks_exact(dtype.size()).map(E::of_bytes).collect()));
        Self::from_buffer(buffer, shape.into())
    }
}

/// An element as its little-endian bytes.
trait LittleEndian: Element {
    type Bytes: IntoIterator<Item = u8>;
    fn bytes(self) -> Self::Bytes;
    fn of_bytes(bytes: &[u8]) -> Self;
}

macro_rules! little_endian {
    ($($T:ty)*) => { $(
        impl LittleEndian for $T {
            type Bytes = [u8; size_of::<$T>()];
            fn bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            fn of_bytes(bytes: &[u8]) -> Self {
                <$T>::from_le_bytes(bytes.try_into().expect("as many bytes as the element has"))
            }
        }
    )* };
}
little_endian!(f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8);

impl LittleEndian for bool {
    type Bytes = [u8; 1];
    fn bytes(self) -> [u8; 1] {
        [self.into()]
    }
    fn of_bytes(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_comes_back() {
        for &dtype in DType::ALL {
            let data = TensorData::new(vec![1.0f64, 0.0, 1.0], [3]).unwrap().cast(dtype);
            let bytes = data.to_le_bytes();
            assert_eq!(bytes.len(), 3 * dtype.size());
            assert_eq!(TensorData::from_le_bytes(&bytes, dtype, [3]).unwrap(), data);
            assert!(TensorData::from_le_bytes(&bytes, dtype, [4]).is_err());
        }
        assert!(TensorData::from_le_bytes(&[0; 3], DType::F16, [1]).is_err());
    }

    #[test]
    fn bytes_tell_zeros_apart() {
        let of = |x: f32| TensorData::new(vec![x], [1]).unwrap();
        assert_eq!(of(0.0), of(-0.0));
        assert_ne!(of(0.0).to_le_bytes(), of(-0.0).to_le_bytes());
    }
}
