//! Half types: stored in 16 bits, computed in `f32`.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::super::simd::vectorised;
use crate::element::Element;

/// A 16-bit float.
pub(in super::super) trait Half: Element {
    /// This value, exactly.
    fn to_f32(self) -> f32;
    /// The nearest value.
    fn from_f32(value: f32) -> Self;
    /// Each value as `f32`, exactly. Both are equally long.
    fn widen(values: &[Self], wide: &mut [f32]);
    /// Each value rounded. Both are equally long.
    fn narrow(wide: &[f32], values: &mut [Self]);
}

impl Half for f16 {
    fn to_f32(self) -> f32 {
        f16::to_f32(self)
    }
    fn from_f32(value: f32) -> Self {
        f16::from_f32(value)
    }
    fn widen(values: &[Self], wide: &mut [f32]) {
        values.convert_to_f32_slice(wide);
    }
    fn narrow(wide: &[f32], values: &mut [Self]) {
        values.convert_from_f32_slice(wide);
    }
}

// The conversions of `bf16` slices in the `half` crate do not vectorise.
impl Half for bf16 {
    fn to_f32(self) -> f32 {
        bf16::to_f32(self)
    }
    fn from_f32(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn widen(values: &[Self], wide: &mut [f32]) {
        assert_eq!(values.len(), wide.len());
        let widen = |x: bf16| f32::from_bits(u32::from(x.to_bits()) << 16);
        vectorised(|| {
            wide.iter_mut()
                .zip(values)
                .for_each(|(wide, &x)| *wide = widen(x))
        });
    }
    fn narrow(wide: &[f32], values: &mut [Self]) {
        assert_eq!(values.len(), wide.len());
        let narrow = |wide: f32| {
            let bits = wide.to_bits();
            // To the nearest, ties to even.
            let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
            // Rounding must not make a NaN infinite.
            let nan = bits >> 16 | 0x40;
            bf16::from_bits(if wide.is_nan() { nan } else { rounded } as u16)
        };
        vectorised(|| {
            values
                .iter_mut()
                .zip(wide)
                .for_each(|(x, &wide)| *x = narrow(wide))
        });
    }
}

/// A block of values in both forms.
pub(in super::super) struct Block<H> {
    narrow: Vec<H>,
    wide: Vec<f32>,
}

impl<H: Half> Block<H> {
    pub(in super::super) fn new() -> Self {
        Block {
            narrow: Vec::new(),
            wide: Vec::new(),
        }
    }

    /// Fills the block.
    pub(in super::super) fn widen(&mut self, values: &[H]) -> &mut [f32] {
        if self.wide.len() < values.len() {
            self.wide.resize(values.len(), 0.0);
        }
        let wide = &mut self.wide[..values.len()];
        H::widen(values, wide);
        wide
    }

    /// The first `len` values of the block, rounded.
    pub(in super::super) fn narrow(&mut self, len: usize) -> &[H] {
        if self.narrow.len() < len {
            self.narrow.resize(len, H::default());
        }
        let narrow = &mut self.narrow[..len];
        H::narrow(&self.wide[..len], narrow);
        narrow
    }
}
