use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::{Arg, SliceRange};

/// Reading, writing or finding by index. Indices are of any integer type; one outside its axis is an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum IndexOp<T> {
    /// `out[i][j] = x[i][index[i][j]]` (for axis 1); the result has the shape of `index`.
    Gather { x: T, index: T, axis: usize },
    /// `out[i][index[i][j]] = src[i][j]` (for axis 1), combined with `x` by `mode`, in row-major order of `index`.
    Scatter {
        x: T,
        index: T,
        src: T,
        axis: usize,
        mode: ScatterMode,
    },
    /// `out[.., i, ..] = x[.., index[i], ..]`; `index` has rank 1.
    Select { x: T, index: T, axis: usize },
    /// `out[.., index[i], ..] = src[.., i, ..]`, combined with `x` by `mode`; `index` has rank 1.
    SelectAssign {
        x: T,
        index: T,
        src: T,
        axis: usize,
        mode: ScatterMode,
    },
    /// `cond ? on_true : on_false`, all broadcast to each other.
    Where {
        cond: T,
        on_true: Arg<T>,
        on_false: Arg<T>,
    },
    /// `x` with the elements of a slice replaced by `src`.
    SliceAssign {
        x: T,
        src: T,
        ranges: SmallVec<[SliceRange; 4]>,
    },
    /// The stable order of the elements along an axis, as `i32`; NaN is greater than everything.
    ArgSort { x: T, axis: usize, descending: bool },
    /// The places of the first `k` elements in descending (`largest`) or ascending order, as `i32`.
    TopK {
        x: T,
        axis: usize,
        k: usize,
        largest: bool,
    },
}

/// How a written element combines with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ScatterMode {
    /// The last written one stays.
    Set,
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The greater; NaN if either is.
    Max,
    /// The lesser; NaN if either is.
    Min,
}

impl ScatterMode {
    /// Every mode.
    pub const ALL: &[ScatterMode] = &[
        ScatterMode::Set,
        ScatterMode::Add,
        ScatterMode::Mul,
        ScatterMode::Max,
        ScatterMode::Min,
    ];
}

impl<T> IndexOp<T> {
    /// The name, as error messages give it.
    pub fn name(&self) -> &'static str {
        match self {
            IndexOp::Gather { .. } => "gather",
            IndexOp::Scatter { .. } => "scatter",
            IndexOp::Select { .. } => "select",
            IndexOp::SelectAssign { .. } => "select_assign",
            IndexOp::Where { .. } => "mask_where",
            IndexOp::SliceAssign { .. } => "slice_assign",
            IndexOp::ArgSort { .. } => "argsort",
            IndexOp::TopK { .. } => "topk",
        }
    }

    pub(super) fn try_map<U, X>(self, f: &mut impl FnMut(T) -> Result<U, X>) -> Result<IndexOp<U>, X> {
        Ok(match self {
            IndexOp::Gather { x, index, axis } => IndexOp::Gather {
                x: f(x)?,
                index: f(index)?,
                axis,
            },
            IndexOp::Scatter {
                x,
                index,
                src,
                axis,
                mode,
            } => IndexOp::Scatter {
                x: f(x)?,
                index: f(index)?,
                src: f(src)?,
                axis,
                mode,
            },
            IndexOp::Select { x, index, axis } => IndexOp::Select {
                x: f(x)?,
                index: f(index)?,
                axis,
            },
            IndexOp::SelectAssign {
                x,
                index,
                src,
                axis,
                mode,
            } => IndexOp::SelectAssign {
                x: f(x)?,
                index: f(index)?,
                src: f(src)?,
                axis,
                mode,
            },
            IndexOp::Where {
                cond,
                on_true,
                on_false,
            } => IndexOp::Where {
                cond: f(cond)?,
                on_true: on_true.try_map(f)?,
                on_false: on_false.try_map(f)?,
            },
            IndexOp::SliceAssign { x, src, ranges } => IndexOp::SliceAssign {
                x: f(x)?,
                src: f(src)?,
                ranges,
            },
            IndexOp::ArgSort { x, axis, descending } => IndexOp::ArgSort {
                x: f(x)?,
                axis,
                descending,
            },
            IndexOp::TopK { x, axis, k, largest } => IndexOp::TopK {
                x: f(x)?,
                axis,
                k,
                largest,
            },
        })
    }

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(&'a T)) {
        match self {
            IndexOp::Gather { x, index, .. } | IndexOp::Select { x, index, .. } => {
                f(x);
                f(index);
            }
            IndexOp::Scatter { x, index, src, .. } | IndexOp::SelectAssign { x, index, src, .. } => {
                f(x);
                f(index);
                f(src);
            }
            IndexOp::Where {
                cond,
                on_true,
                on_false,
            } => {
                f(cond);
                on_true.tensor().map(&mut *f);
                on_false.tensor().map(&mut *f);
            }
            IndexOp::SliceAssign { x, src, .. } => {
                f(x);
                f(src);
            }
            IndexOp::ArgSort { x, .. } | IndexOp::TopK { x, .. } => f(x),
        }
    }
}
