//! Values as text, laid out as PyTorch does: aligned columns, and an ellipsis in long axes of large tensors.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use super::Tensor;
use crate::backend::Readable;
use crate::data::TensorData;
use crate::element::{Element, Scalar};
use crate::raw::Raw;

/// How [`set_print_options`] has tensors written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Tensors of more elements are abridged.
    pub threshold: usize,
    /// How many elements of an abridged axis stand at either end.
    pub edge_items: usize,
    /// The decimals of floats; as many as they need, at most four, by default.
    pub precision: Option<usize>,
}

impl PrintOptions {
    const DEFAULT: PrintOptions = PrintOptions {
        threshold: 1000,
        edge_items: 3,
        precision: None,
    };
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions::DEFAULT
    }
}

static OPTIONS: RwLock<PrintOptions> = RwLock::new(PrintOptions::DEFAULT);

/// Sets how tensors are written from now on, in the whole process. For one of them, `{:.2}` sets the decimals.
///
/// ```
/// use keyway::prelude::*;
/// use keyway::{PrintOptions, set_print_options};
/// let x = Tensor::<Flex, 1>::arange(0..9, &Default::default());
/// set_print_options(PrintOptions { threshold: 4, edge_items: 1, precision: Some(2) });
/// assert_eq!(x.to_string(), "[0.00, ..., 8.00]");
/// assert_eq!(format!("{x:.0}"), "[0, ..., 8]");
/// ```
pub fn set_print_options(options: PrintOptions) {
    *OPTIONS.write().unwrap_or_else(PoisonError::into_inner) = options;
}

/// No `f64` has more, and `format!` panics at some number of them.
const MOST_DECIMALS: usize = 1074;

/// Longer rows continue on the next line.
const LINE: usize = 100;

/// The values; `{:.2}` sets the decimals of floats. What goes wrong while reading stands in their place.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[1.5, -2.0], [0.25, 10.0]], &Default::default());
/// assert_eq!(format!("{x:.2}"), "[[ 1.50, -2.00],\n [ 0.25, 10.00]]");
/// ```
impl<B: Readable, const D: usize, E: Element> fmt::Display for Tensor<B, D, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw().fmt(f)
    }
}

/// The values; `{:.2}` sets the decimals of floats. What goes wrong while reading stands in their place.
impl<B: Readable> fmt::Display for Raw<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.clone().into_data() {
            Ok(data) => data.fmt(f),
            Err(error) => write!(f, "{self:?}: {error}"),
        }
    }
}

/// The values; `{:.2}` sets the decimals of floats.
impl fmt::Display for TensorData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape().contains(&0) {
            return match self.shape()[..] {
                [_] => f.write_str("[]"),
                _ => write!(f, "[] of shape {}", self.shape()),
            };
        }
        let options = *OPTIONS.read().unwrap_or_else(PoisonError::into_inner);
        let abridged = self.shape().num_elements() > options.threshold;
        let edge = abridged.then_some(options.edge_items);
        let mut positions = Vec::new();
        visit(self.shape(), edge, 0, &mut |position| positions.push(position));
        let values: Vec<Scalar> = positions
            .iter()
            .filter_map(|&position| self.get(position))
            .collect();
        let precision = f.precision().or(options.precision);
        let style = Style::of(&values, precision.map(|decimals| decimals.min(MOST_DECIMALS)));
        let cells: Vec<String> = values.into_iter().map(|value| style.cell(value)).collect();
        let width = cells.iter().map(String::len).max().unwrap_or(0);
        let mut cells = cells.into_iter();
        block(f, self.shape(), 0, edge, width, &mut cells)
    }
}

/// Calls `f` with the row-major position of every element that is shown.
fn visit(shape: &[usize], edge: Option<usize>, start: usize, f: &mut impl FnMut(usize)) {
    let Some((&size, inner)) = shape.split_first() else {
        return f(start);
    };
    let stride: usize = inner.iter().product();
    for i in shown(size, edge).into_iter().flatten() {
        visit(inner, edge, start + i * stride, f);
    }
}

/// The elements of an axis that are shown, of an abridged one as many as `edge` at either end; between `None` and its
/// neighbours some are left out.
fn shown(size: usize, edge: Option<usize>) -> Vec<Option<usize>> {
    match edge {
        Some(edge) if size / 2 >= edge && size > 2 * edge => (0..edge)
            .map(Some)
            .chain([None])
            .chain((size - edge..size).map(Some))
            .collect(),
        _ => (0..size).map(Some).collect(),
    }
}

/// Writes the axes of `shape`, the outermost of which is number `axis`.
fn block(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    axis: usize,
    edge: Option<usize>,
    width: usize,
    cells: &mut impl Iterator<Item = String>,
) -> fmt::Result {
    let Some((&size, inner)) = shape.split_first() else {
        return write!(f, "{:>width$}", cells.next().unwrap_or_default());
    };
    let per_line = (LINE.saturating_sub(axis + 1) / (width + 2)).max(1);
    f.write_str("[")?;
    for (n, item) in shown(size, edge).into_iter().enumerate() {
        if n > 0 {
            let lines = match inner.len() {
                0 if n % per_line == 0 => 1,
                lines => lines,
            };
            match lines {
                0 => f.write_str(", ")?,
                _ => write!(f, ",{}{:indent$}", "\n".repeat(lines), "", indent = axis + 1)?,
            }
        }
        match item {
            Some(_) => block(f, inner, axis + 1, edge, width, cells)?,
            None => f.write_str("...")?,
        }
    }
    f.write_str("]")
}

/// How all values of a tensor are written.
#[derive(Clone, Copy)]
enum Style {
    Fixed(usize),
    Scientific(usize),
}

impl Style {
    /// Whole numbers get one decimal, others four, and a wide range of magnitudes exponents.
    fn of(values: &[Scalar], precision: Option<usize>) -> Style {
        let magnitudes = values.iter().filter_map(|value| match value {
            Scalar::Float(v) if v.is_finite() && *v != 0.0 => Some(v.abs()),
            _ => None,
        });
        let (mut least, mut greatest, mut whole) = (f64::INFINITY, 0.0, true);
        for v in magnitudes {
            least = v.min(least);
            greatest = v.max(greatest);
            whole &= v.fract() == 0.0;
        }
        let wide = greatest >= 1e8 || (!whole && (least < 1e-4 || greatest / least > 1e6));
        match precision {
            _ if wide => Style::Scientific(precision.unwrap_or(4)),
            None if whole => Style::Fixed(1),
            precision => Style::Fixed(precision.unwrap_or(4)),
        }
    }

    fn cell(self, value: Scalar) -> String {
        match (value, self) {
            (Scalar::Float(v), Style::Fixed(decimals)) if v.is_finite() => format!("{v:.decimals$}"),
            (Scalar::Float(v), Style::Scientific(decimals)) if v.is_finite() => format!("{v:.decimals$e}"),
            (Scalar::Float(v), _) => format!("{v}"),
            (value, _) => value.to_string(),
        }
    }
}
