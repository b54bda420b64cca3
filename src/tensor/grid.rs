//! Grids of points, and images sampled at them.

use super::{Tensor, ok};
use crate::backend::{Backend, Supports};
use crate::element::{Element, FloatElement, IntElement};
use crate::raw::Raw;
pub use crate::raw::{
    GridIndexing, GridOptions, GridSampleOptions, GridSamplePaddingMode, GridSparsity, IndexPos,
};

/// The coordinates of the points of a grid: of `N` vectors `N` tensors, each of which holds one coordinate of every point.
///
/// ```
/// use keyway::grid::{GridIndexing, meshgrid};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let (x, y) = (Tensor::<Flex, 1>::from_array([1.0, 2.0], &device), Tensor::from_array([3.0, 4.0], &device));
/// let [rows, _] = meshgrid(&[x.clone(), y.clone()], GridIndexing::Matrix);
/// assert_eq!(rows.into_vec()?, [1.0, 1.0, 2.0, 2.0]);
/// let [columns, _] = meshgrid(&[x, y], GridIndexing::Cartesian);
/// assert_eq!(columns.into_vec()?, [1.0, 2.0, 1.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the grid exceeds the address space.
#[track_caller]
pub fn meshgrid<B: Backend, const N: usize, E: Element>(
    tensors: &[Tensor<B, 1, E>; N],
    options: impl Into<GridOptions>,
) -> [Tensor<B, N, E>; N] {
    let mut grid = ok(Raw::meshgrid(&raws(tensors), options)).into_iter();
    std::array::from_fn(|_| Tensor::of(Ok(grid.next().expect("one coordinate of each vector"))))
}

/// [`meshgrid`], dense and by matrix indexing, in one tensor: the new axis, the first or the last, counts the coordinates of
/// a point.
///
/// ```
/// use keyway::grid::{IndexPos, meshgrid_stack};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let vectors = [[1.0, 2.0], [3.0, 4.0]].map(|x| Tensor::<Flex, 1>::from_array(x, &device));
/// let points: Tensor<_, 3> = meshgrid_stack(&vectors, IndexPos::Last);
/// assert_eq!(points.into_vec()?, [1.0, 3.0, 1.0, 4.0, 2.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the grid exceeds the address space.
#[track_caller]
pub fn meshgrid_stack<B: Backend, const D: usize, const D2: usize, E: Element>(
    tensors: &[Tensor<B, 1, E>; D],
    index_pos: IndexPos,
) -> Tensor<B, D2, E> {
    const { assert!(D2 == D + 1, "`meshgrid_stack` adds one axis: D2 must be D + 1") }
    Tensor::of(Raw::meshgrid_stack(&raws(tensors), index_pos))
}

/// The indices of each element of a shape, along a new last axis.
///
/// ```
/// use keyway::grid::cartesian_grid;
/// use keyway::prelude::*;
/// let grid: Tensor<Flex, 3, i32> = cartesian_grid([1, 2], &Default::default());
/// assert_eq!(grid.into_vec()?, [0, 0, 0, 1]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the grid exceeds the address space, or the device fails.
#[track_caller]
pub fn cartesian_grid<B: Backend + Supports<E>, const D: usize, const D2: usize, E: IntElement>(
    shape: [usize; D],
    device: &B::Device,
) -> Tensor<B, D2, E> {
    const { assert!(D2 == D + 1, "`cartesian_grid` adds one axis: D2 must be D + 1") }
    Tensor::of(Raw::cartesian_grid(shape, E::DTYPE, device))
}

/// Where the points of a grid lie under affine maps: `transform` is `[batch, 2, 3]`, `dims` `[batch, channels, height,
/// width]`, the result `[batch, height, width, 2]`, `(x, y)`. The centres of the corners are at -1 and 1, as for
/// [`Tensor::grid_sample_2d`] with aligned corners.
///
/// ```
/// use keyway::grid::affine_grid_2d;
/// use keyway::prelude::*;
/// let shift = Tensor::<Flex, 3>::from_array([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]], &Default::default());
/// assert_eq!(affine_grid_2d(shift, [1, 1, 1, 2]).into_vec()?, [-0.5, 0.0, 1.5, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is not one map for each of the batch.
#[track_caller]
pub fn affine_grid_2d<B: Backend, E: FloatElement>(
    transform: Tensor<B, 3, E>,
    dims: [usize; 4],
) -> Tensor<B, 4, E> {
    Tensor::of(transform.into_raw().affine_grid_2d(dims))
}

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// [`cartesian_grid`] of a shape of this rank.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let grid: Tensor<Flex, 3, i32> = Tensor::<Flex, 2, i32>::cartesian_grid([1, 2], &Default::default());
    /// assert_eq!(grid.into_vec()?, [0, 0, 0, 1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the grid exceeds the address space, or the device fails.
    #[track_caller]
    pub fn cartesian_grid<const D2: usize>(shape: [usize; D], device: &B::Device) -> Tensor<B, D2, E>
    where
        B: Supports<E>,
        E: IntElement,
    {
        cartesian_grid(shape, device)
    }

    /// An image `[batch, channels, height, width]` at the places of a grid `[batch, height, width, 2]`, `(x, y)` from -1,
    /// left or top, to 1: `[batch, channels, height, width]` of the grid. A place that is NaN gives NaN.
    ///
    /// ```
    /// use keyway::module::InterpolateMode;
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0], [3.0, 4.0]]]], &device);
    /// let grid = Tensor::from_array([[[[0.0, 0.0], [-0.5, 0.5]]]], &device);
    /// assert_eq!(x.grid_sample_2d(grid, InterpolateMode::Bilinear).into_vec()?, [2.5, 3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes do not fit, or the mode is none of nearest, bilinear and bicubic.
    #[track_caller]
    pub fn grid_sample_2d(self, grid: Self, options: impl Into<GridSampleOptions>) -> Self
    where
        E: FloatElement,
    {
        const { assert!(D == 4, "`grid_sample_2d` is for images: rank 4") }
        Self::of(self.into_raw().grid_sample_2d(grid.into_raw(), options))
    }
}

fn raws<B: Backend, const N: usize, E: Element>(tensors: &[Tensor<B, 1, E>; N]) -> [Raw<B>; N] {
    tensors.each_ref().map(|x| x.raw().clone())
}
