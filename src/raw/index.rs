use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::{self, IndexOp, Op, ScatterMode, SliceRange};

/// Reading, writing and finding by index.
///
/// # Errors
/// Each returns what [`op::run`] does; an index outside its axis is an error.
impl<B: Backend> Raw<B> {
    /// [`IndexOp::Gather`].
    pub fn gather(self, axis: usize, index: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Gather {
            x: self.0,
            index: index.0,
            axis,
        })
    }

    /// [`IndexOp::Scatter`].
    pub fn scatter(self, axis: usize, index: Self, src: Self, mode: ScatterMode) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Scatter {
            x: self.0,
            index: index.0,
            src: src.0,
            axis,
            mode,
        })
    }

    /// [`IndexOp::Select`].
    pub fn select(self, axis: usize, index: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Select {
            x: self.0,
            index: index.0,
            axis,
        })
    }

    /// [`IndexOp::SelectAssign`].
    pub fn select_assign(
        self,
        axis: usize,
        index: Self,
        src: Self,
        mode: ScatterMode,
    ) -> Result<Self, Error> {
        indexed::<B>(IndexOp::SelectAssign {
            x: self.0,
            index: index.0,
            src: src.0,
            axis,
            mode,
        })
    }

    /// [`IndexOp::SliceAssign`].
    pub fn slice_assign(self, ranges: &[SliceRange], src: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::SliceAssign {
            x: self.0,
            src: src.0,
            ranges: ranges.into(),
        })
    }

    /// [`IndexOp::ArgSort`].
    pub fn argsort(self, axis: usize, descending: bool) -> Result<Self, Error> {
        indexed::<B>(IndexOp::ArgSort {
            x: self.0,
            axis,
            descending,
        })
    }

    /// [`IndexOp::TopK`].
    pub fn topk_indices(self, axis: usize, k: usize, largest: bool) -> Result<Self, Error> {
        indexed::<B>(IndexOp::TopK {
            x: self.0,
            axis,
            k,
            largest,
        })
    }
}

fn indexed<B: Backend>(op: IndexOp<B::Primitive>) -> Result<Raw<B>, Error> {
    op::run::<B>(Op::Index(Box::new(op))).map(Raw)
}
