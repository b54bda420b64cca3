use super::Raw;
use super::interpolate::InterpolateMode;
use crate::backend::Backend;
use crate::element::DType;
use crate::error::Error;
use crate::op;
use crate::shape::Shape;

/// Beyond every element of every axis, and no place that is not finite.
const FAR: f64 = 1e30;

/// What stands outside an image that is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridSamplePaddingMode {
    /// Zeros.
    #[default]
    Zeros,
    /// The edge.
    Border,
    /// The image, mirrored at its edges as often as it takes.
    Reflection,
}

/// How an image is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSampleOptions {
    /// What becomes of a place between elements: nearest, bilinear or bicubic.
    pub mode: InterpolateMode,
    /// What stands outside.
    pub padding_mode: GridSamplePaddingMode,
    /// Whether -1 and 1 are the centres of the first and the last element of an axis, rather than their outer edges.
    pub align_corners: bool,
}

impl GridSampleOptions {
    /// This mode, with zeros outside, and edges at -1 and 1.
    pub fn new(mode: InterpolateMode) -> Self {
        GridSampleOptions {
            mode,
            padding_mode: GridSamplePaddingMode::Zeros,
            align_corners: false,
        }
    }

    /// With something else outside.
    pub fn with_padding_mode(self, padding_mode: GridSamplePaddingMode) -> Self {
        GridSampleOptions { padding_mode, ..self }
    }

    /// With centres at -1 and 1, or edges.
    pub fn with_align_corners(self, align_corners: bool) -> Self {
        GridSampleOptions {
            align_corners,
            ..self
        }
    }
}

impl Default for GridSampleOptions {
    fn default() -> Self {
        GridSampleOptions::new(InterpolateMode::Bilinear)
    }
}

impl From<InterpolateMode> for GridSampleOptions {
    fn from(mode: InterpolateMode) -> Self {
        GridSampleOptions::new(mode)
    }
}

/// Along which axes coordinates lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridIndexing {
    /// The first along the first axis, the second along the second, and so on ("ij").
    #[default]
    Matrix,
    /// The first along the second axis, the second along the first ("xy").
    Cartesian,
}

/// Whether coordinates fill the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridSparsity {
    /// They do.
    #[default]
    Dense,
    /// They have size 1 along the other axes.
    Sparse,
}

/// How coordinates make a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GridOptions {
    /// Along which axes they lie.
    pub indexing: GridIndexing,
    /// Whether they fill the grid.
    pub sparsity: GridSparsity,
}

impl GridOptions {
    /// Options with this indexing and sparsity.
    pub fn new(indexing: GridIndexing, sparsity: GridSparsity) -> Self {
        GridOptions { indexing, sparsity }
    }
}

impl From<GridIndexing> for GridOptions {
    fn from(indexing: GridIndexing) -> Self {
        GridOptions::new(indexing, GridSparsity::default())
    }
}

impl From<GridSparsity> for GridOptions {
    fn from(sparsity: GridSparsity) -> Self {
        GridOptions::new(GridIndexing::default(), sparsity)
    }
}

/// Which axis counts the coordinates of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexPos {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
}

/// Grids.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// The coordinates of the points of a grid: of vectors `n` tensors of rank `n`, one for each.
    pub fn meshgrid(vectors: &[Self], options: impl Into<GridOptions>) -> Result<Vec<Self>, Error> {
        let GridOptions { indexing, sparsity } = options.into();
        if let Some(x) = vectors.iter().find(|x| x.rank() != 1) {
            return Err(Error::rank("meshgrid", x.rank(), "vectors, rank 1"));
        }
        for x in vectors.iter().skip(1) {
            vectors[0].same_dtype("meshgrid", x, "the first vector")?;
        }
        let grid: Shape = vectors.iter().map(|x| x.shape()[0]).collect();
        let coordinate = |(axis, x): (usize, &Self)| {
            let alone = Shape::from(vec![1; grid.rank()]).with(axis, grid[axis]);
            let x = x.clone().reshape(alone)?;
            let x = match sparsity {
                GridSparsity::Dense => x.expand(grid.clone())?,
                GridSparsity::Sparse => x,
            };
            match indexing {
                GridIndexing::Cartesian if grid.rank() > 1 => x.swap_dims(0, 1),
                _ => Ok(x),
            }
        };
        vectors.iter().enumerate().map(coordinate).collect()
    }

    /// [`Raw::meshgrid`], dense and by matrix indexing, in one tensor.
    pub fn meshgrid_stack(vectors: &[Self], index_pos: IndexPos) -> Result<Self, Error> {
        let axis = match index_pos {
            IndexPos::First => 0,
            IndexPos::Last => vectors.len(),
        };
        Self::stack(Self::meshgrid(vectors, GridOptions::default())?, axis)
    }

    /// The indices of each element of a shape, along a new last axis.
    pub fn cartesian_grid(shape: impl Into<Shape>, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        let shape = shape.into();
        let grid: Shape = shape.iter().copied().chain([shape.rank()]).collect();
        op::checked("cartesian_grid", grid.clone(), dtype)?;
        if grid.num_elements() == 0 {
            return Self::zeros(grid, dtype, device);
        }
        let axes = shape
            .iter()
            .map(|&size| Self::arange(0..size as i64, dtype, device));
        Self::meshgrid_stack(&axes.collect::<Result<Vec<_>, _>>()?, IndexPos::Last)
    }

    /// Where the points of a grid lie under affine maps, for [`Raw::grid_sample_2d`] with aligned corners: `self` is
    /// `[batch, 2, 3]`, `dims` `[batch, channels, height, width]`, the result `[batch, height, width, 2]`.
    pub fn affine_grid_2d(self, dims: [usize; 4]) -> Result<Self, Error> {
        const NAME: &str = "affine_grid_2d";
        let [batch, _, height, width] = dims;
        if self.shape()[..] != [batch, 2, 3] {
            let message = format!("the maps of a batch of {batch} are [{batch}, 2, 3]");
            return Err(Error::shape(NAME, &[self.shape()], message));
        }
        self.floats(NAME)?;
        op::checked(NAME, [batch, height, width, 2].into(), self.dtype())?;
        if batch * height * width == 0 {
            return self.narrow(1, 0, 0)?.reshape([batch, height, width, 2]);
        }
        // One element alone lies in the middle.
        let line = |len| match len {
            1 => Self::zeros([1], self.dtype(), &self.device()),
            _ => Self::linspace(-1.0, 1.0, len, self.dtype(), &self.device()),
        };
        let x = line(width)?.reshape([1, 1, width, 1])?;
        let y = line(height)?.reshape([1, height, 1, 1])?;
        let column = |i| self.clone().narrow(2, i, 1)?.reshape([batch, 1, 1, 2]);
        let moved = x.mul(column(0)?)?.add(y.mul(column(1)?)?)?;
        moved.add(column(2)?)
    }

    /// An image `[batch, channels, height, width]` at the places of a grid `[batch, …, 2]`, `(x, y)` from -1 to 1: `[batch,
    /// channels, …]`.
    pub fn grid_sample_2d(self, grid: Self, options: impl Into<GridSampleOptions>) -> Result<Self, Error> {
        const NAME: &str = "grid_sample_2d";
        let options = options.into();
        let (&[batch, channels, height, width], &[images, rows, columns, 2]) =
            (&self.shape()[..], &grid.shape()[..])
        else {
            let message =
                "needs an image [batch, channels, height, width] and a grid [batch, height, width, 2]";
            return Err(Error::shape(NAME, &[self.shape(), grid.shape()], message));
        };
        if images != batch {
            let message = "there must be one grid for each image";
            return Err(Error::shape(NAME, &[self.shape(), grid.shape()], message));
        }
        if height == 0 || width == 0 {
            let message = "there is nothing to sample";
            return Err(Error::shape(NAME, &[self.shape()], message));
        }
        self.floats(NAME)?;
        self.same_dtype(NAME, &grid, "the image")?;
        let dtype = self.dtype();
        let points = grid.widen()?.reshape([batch, rows * columns, 2])?;
        let along = |i, size: usize| {
            let place = points.clone().narrow(2, i, 1)?.squeeze_dim(2)?.add(1.0)?;
            if options.align_corners {
                place.div(2.0)?.mul(size.saturating_sub(1) as f64)
            } else {
                place.mul(size as f64)?.sub(1.0)?.div(2.0)
            }
        };
        let places = [along(1, height)?, along(0, width)?];
        let samples = self.widen()?.sampled(NAME, places, options)?;
        samples.reshape([batch, channels, rows, columns])?.cast(dtype)
    }

    /// Images `[n, channels, height, width]` at `y` and `x`, each `[n, points]` in elements: `[n, channels, points]`.
    pub(super) fn sampled(
        self,
        op: &'static str,
        [y, x]: [Self; 2],
        options: GridSampleOptions,
    ) -> Result<Self, Error> {
        let &[n, channels, height, width] = &self.shape()[..] else {
            return Err(Error::rank(op, self.rank(), "rank 4"));
        };
        let plane = height
            .checked_mul(width)
            .filter(|&plane| plane <= i32::MAX as usize);
        let Some(plane) = plane else {
            let message = "the plane is larger than an i32 index reaches";
            return Err(Error::shape(op, &[self.shape()], message));
        };
        let shape = Shape::from([n, channels, x.shape()[1]]);
        // An infinite place would leave no part between elements; so far outside, all are alike.
        let [y, x] = [y.clamp(-FAR, FAR)?, x.clamp(-FAR, FAR)?];
        let flat = self.reshape([n, channels, plane])?;
        let vertical = y.clone().taps(op, height, options)?;
        let horizontal = x.clone().taps(op, width, options)?;
        let mut sum: Option<Self> = None;
        for v in &vertical {
            let mut line: Option<Self> = None;
            for h in &horizontal {
                let index = v.index.clone().mul(width as i64)?.add(h.index.clone())?;
                let index = index.unsqueeze_dim(1)?.expand(shape.clone())?;
                let inside = v.inside.clone().bool_and(h.inside.clone())?.unsqueeze_dim(1)?;
                let value = flat.clone().gather(2, index)?;
                let value = inside.expand(shape.clone())?.choose(value, 0.0)?;
                line = Some(h.weighed_onto(line, value)?);
            }
            if let Some(line) = line {
                sum = Some(v.weighed_onto(sum, line)?);
            }
        }
        let sum = sum.ok_or_else(|| Error::argument(op, "no elements are taken"))?;
        if vertical.len() > 1 {
            return Ok(sum); // whose weights are NaN where a place is
        }
        let nowhere = y.is_nan()?.bool_or(x.is_nan()?)?.unsqueeze_dim(1)?;
        sum.mask_where(nowhere.expand(shape)?, f64::NAN)
    }

    /// The elements of an axis that places along it are made of.
    fn taps(self, op: &'static str, size: usize, options: GridSampleOptions) -> Result<Vec<Tap<B>>, Error> {
        let tap = |at: Self, weight: Option<Self>| {
            let inside = at
                .clone()
                .greater_equal(0.0)?
                .bool_and(at.clone().lower(size as f64)?)?;
            let index = inside.clone().choose(at, 0.0)?.cast(DType::I32)?;
            Ok(Tap {
                index,
                inside,
                weight,
            })
        };
        match options.mode {
            InterpolateMode::Nearest => Ok(vec![tap(self.brought_in(size, options)?.round()?, None)?]),
            InterpolateMode::Bilinear => {
                let place = self.brought_in(size, options)?;
                let base = place.clone().floor()?;
                let part = place.sub(base.clone())?;
                let rest = part.clone().neg()?.add(1.0)?;
                Ok(vec![
                    tap(base.clone(), Some(rest))?,
                    tap(base.add(1.0)?, Some(part))?,
                ])
            }
            InterpolateMode::Bicubic => {
                let base = self.clone().floor()?;
                let part = self.sub(base.clone())?;
                let curve = |i: i32| {
                    let at = base.clone().add(f64::from(i))?.brought_in(size, options)?;
                    let distance = if i > 0 {
                        part.clone().neg()?.add(f64::from(i))?
                    } else {
                        part.clone().add(f64::from(-i))?
                    };
                    tap(at, Some(cubic(distance, i == 0 || i == 1)?))
                };
                (-1..=2).map(curve).collect()
            }
            mode => {
                let message = format!("{mode:?} does not sample: Nearest, Bilinear and Bicubic do");
                Err(Error::argument(op, message))
            }
        }
    }

    /// Places along an axis of `size` elements, taken into it but for zeros outside. What is moved has no gradient.
    fn brought_in(self, size: usize, options: GridSampleOptions) -> Result<Self, Error> {
        let place = match options.padding_mode {
            GridSamplePaddingMode::Zeros => return Ok(self),
            GridSamplePaddingMode::Border => self,
            GridSamplePaddingMode::Reflection => {
                let (low, span) = if options.align_corners {
                    (0.0, size as f64 - 1.0)
                } else {
                    (-0.5, size as f64)
                };
                if span > 0.0 {
                    let there_and_back = self.sub(low)?.abs()?.remainder(2.0 * span)?;
                    there_and_back.sub(span)?.abs()?.neg()?.add(span + low)?
                } else {
                    self
                }
            }
        };
        let last = size as f64 - 1.0;
        let before = place.clone().lower_equal(0.0)?;
        let after = place.clone().greater_equal(last)?;
        after.choose(last, before.choose(0.0, place)?)
    }
}

/// For each place along an axis an element, and what it counts.
struct Tap<B: Backend> {
    /// The element, 0 where it is outside.
    index: Raw<B>,
    inside: Raw<B>,
    /// All, if none.
    weight: Option<Raw<B>>,
}

impl<B: Backend> Tap<B> {
    /// `sum` and values that count as the element does.
    fn weighed_onto(&self, sum: Option<Raw<B>>, values: Raw<B>) -> Result<Raw<B>, Error> {
        let weighed = match &self.weight {
            Some(weight) => values.mul(weight.clone().unsqueeze_dim(1)?)?,
            None => values,
        };
        match sum {
            Some(sum) => sum.add(weighed),
            None => Ok(weighed),
        }
    }
}

/// Keys' weight at a distance up to 1, or from 1 to 2, whose slope at 1 is -3/4.
fn cubic<B: Backend>(d: Raw<B>, near: bool) -> Result<Raw<B>, Error> {
    const A: f64 = -0.75;
    let factors = if near {
        [A + 2.0, -(A + 3.0), 0.0, 1.0]
    } else {
        [A, -5.0 * A, 8.0 * A, -4.0 * A]
    };
    let [first, rest @ ..] = factors;
    let start = d.clone().mul(first)?.add(rest[0])?;
    rest[1..]
        .iter()
        .try_fold(start, |sum, &factor| sum.mul(d.clone())?.add(factor))
}
