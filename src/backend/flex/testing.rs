//! Tensors for the tests of this backend.

use crate::raw::Raw;
use crate::{DType, Error, Flex, TensorData};

/// A small generator (SplitMix64, Steele et al. 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 1 to `most`.
    pub(super) fn up_to(&mut self, most: usize) -> usize {
        1 + (self.next() % most as u64) as usize
    }

    /// Small integers, exact in every element type, in a tensor that may be permuted, flipped and cut from a larger.
    pub(super) fn view(&mut self, shape: &[usize], dtype: DType) -> Result<Raw<Flex>, Error> {
        let rank = shape.len();
        let mut axes: Vec<usize> = (0..rank).collect();
        for i in (1..rank).rev() {
            axes.swap(i, self.up_to(i + 1) - 1);
        }
        let margin = self.up_to(2) - 1;
        let mut sizes = vec![0; rank];
        for (axis, &from) in axes.iter().enumerate() {
            sizes[from] = shape[axis] + margin;
        }
        let least = if dtype.is_unsigned() || dtype == DType::Bool {
            0
        } else {
            -4
        };
        let len = sizes.iter().product();
        let values: Vec<i64> = (0..len).map(|_| least + (self.next() % 7) as i64).collect();
        let data = TensorData::new(values, sizes)?.cast(dtype);
        let mut x = Raw::from_data(data, &Default::default())?.permute(&axes)?;
        for (axis, &size) in shape.iter().enumerate() {
            x = x.narrow(axis, margin, size)?;
            if self.next().is_multiple_of(3) {
                x = x.flip([axis])?;
            }
        }
        Ok(x)
    }
}

/// `0, 1, 2, …` as `f32`.
pub(super) fn numbered(shape: &[usize]) -> Result<Raw<Flex>, Error> {
    let values = (0..shape.iter().product()).map(|i: usize| i as f32).collect();
    Raw::from_data(TensorData::new(values, shape)?, &Default::default())
}

/// The values in row-major order.
pub(super) fn data(x: Raw<Flex>) -> Result<Vec<f64>, Error> {
    Ok(x.into_data()?.iter().collect())
}

/// Checks that values are equal to what an element type can hold of the expected ones.
pub(super) fn same(values: &[f64], expected: &[f64], dtype: DType) {
    assert_eq!(values.len(), expected.len());
    let unit = match dtype {
        DType::F64 => 1e-12,
        DType::F32 => 1e-5,
        DType::F16 => 1e-3,
        DType::BF16 => 8e-3,
        _ => 0.0,
    };
    for (i, (a, b)) in values.iter().zip(expected).enumerate() {
        let b = if dtype == DType::I8 {
            f64::from(*b as i64 as i8)
        } else {
            *b
        };
        assert!(
            (a - b).abs() <= unit * (1.0 + b.abs()),
            "{dtype} element {i}: {a}, expected {b}"
        );
    }
}
