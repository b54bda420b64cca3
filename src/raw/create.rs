use std::ops::Range;

use super::{Raw, held};
use crate::backend::memory::room;
use crate::backend::{Backend, Device};
use crate::data::TensorData;
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{self, CreateOp};
use crate::shape::Shape;

/// What random values are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform in `0..1`; for integers in `0..255`.
    #[default]
    Default,
    /// 1 with this probability, else 0.
    Bernoulli(f64),
    /// Uniform in `low..high`; for integers rounded down.
    Uniform(f64, f64),
    /// Normal with this mean and standard deviation; for integers rounded down.
    Normal(f64, f64),
}

/// Creation.
///
/// # Errors
/// Each returns what [`op::infer_create`] finds wrong, an element type that the device does not hold, or what the backend
/// reports.
impl<B: Backend> Raw<B> {
    /// Creates a tensor.
    pub fn create(
        op: CreateOp,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        held::<B>(dtype, device)?;
        let meta = op::infer_create(&op, shape.into(), dtype)?;
        B::create(op, &meta, device).map(Raw)
    }

    /// Values in row-major order; an error if they do not fill the shape.
    pub fn from_vec<E: Element>(
        values: Vec<E>,
        shape: impl Into<Shape>,
        device: &B::Device,
    ) -> Result<Self, Error> {
        Self::from_data(TensorData::new(values, shape)?, device)
    }

    /// Zeros; `false` for `bool`.
    pub fn zeros(shape: impl Into<Shape>, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        Self::full(shape, dtype.zero(), dtype, device)
    }

    /// Ones; `true` for `bool`.
    pub fn ones(shape: impl Into<Shape>, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        Self::full(shape, dtype.one(), dtype, device)
    }

    /// One value everywhere; an error if it is none for the element type.
    pub fn full(
        shape: impl Into<Shape>,
        value: impl Into<Scalar>,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        Self::create(CreateOp::Full(value.into()), shape, dtype, device)
    }

    /// [`Raw::zeros`]: there is no memory to read that nobody wrote.
    pub fn empty(shape: impl Into<Shape>, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        Self::zeros(shape, dtype, device)
    }

    /// [`Raw::zeros_like`].
    pub fn empty_like(&self) -> Result<Self, Error> {
        self.zeros_like()
    }

    /// Takes the tensor out and leaves zeros with axes of size 0.
    pub fn extract(&mut self) -> Result<Self, Error> {
        let empty = Self::zeros(vec![0; self.rank()], self.dtype(), &self.device())?;
        Ok(std::mem::replace(self, empty))
    }

    /// Puts what `f` makes of the tensor in its place; where that fails, what [`Raw::extract`] leaves stays there.
    pub fn inplace(&mut self, f: impl FnOnce(Self) -> Result<Self, Error>) -> Result<(), Error> {
        *self = f(self.extract()?)?;
        Ok(())
    }

    /// Zeros of the shape, element type and device of this tensor.
    pub fn zeros_like(&self) -> Result<Self, Error> {
        self.full_like(self.dtype().zero())
    }

    /// Ones of the shape, element type and device of this tensor.
    pub fn ones_like(&self) -> Result<Self, Error> {
        self.full_like(self.dtype().one())
    }

    /// One value, of the shape, element type and device of this tensor.
    pub fn full_like(&self, value: impl Into<Scalar>) -> Result<Self, Error> {
        Self::full(self.shape().clone(), value, self.dtype(), &self.device())
    }

    /// `0..len` as `i32`, on the device of this tensor.
    pub(crate) fn arange_like(&self, len: usize) -> Result<Self, Error> {
        let (zero, one) = (Scalar::Int(0), Scalar::Int(1));
        Self::sequence(zero, one, len, DType::I32, &self.device())
    }

    /// `0, 1, …` along an axis of this tensor as `i32`, on its device; the other axes have size 1.
    pub(crate) fn positions(&self, axis: usize) -> Result<Self, Error> {
        let len = self.shape()[axis];
        let mut shape = vec![1; self.rank()];
        shape[axis] = len;
        self.arange_like(len)?.reshape(shape)
    }

    /// Numbers of the element type and device of this tensor.
    pub(crate) fn constant(&self, values: Vec<f64>, shape: impl Into<Shape>) -> Result<Self, Error> {
        let data = TensorData::new(values, shape)?.cast(self.dtype());
        Self::from_data(data, &self.device())
    }

    /// Places along an axis of size `len`, as `i32`, on the device of this tensor.
    pub(crate) fn places(
        &self,
        op: &'static str,
        len: usize,
        places: impl Iterator<Item = usize>,
    ) -> Result<Self, Error> {
        within_reach(op, len)?;
        let places: Vec<i32> = places.map(|place| place as i32).collect();
        let shape = [places.len()];
        Self::from_vec(places, shape, &self.device())
    }

    /// The places `i · step + j · more` along an axis of size `len`, for each `i` of `n` and `j` of `m`: `[n, m]`.
    pub(crate) fn lattice(
        &self,
        op: &'static str,
        len: usize,
        [n, step]: [usize; 2],
        [m, more]: [usize; 2],
    ) -> Result<Self, Error> {
        within_reach(op, len)?;
        room(op, &op::checked(op, [n, m].into(), DType::I32)?)?;
        // Of one place the step may be any.
        let line = |n, step: usize| {
            let step = Scalar::UInt(step.min(len) as u64);
            Self::sequence(Scalar::Int(0), step, n, DType::I32, &self.device())
        };
        line(n, step)?
            .unsqueeze_dim(1)?
            .add(line(m, more)?.unsqueeze_dim(0)?)
    }

    /// The integers of a range.
    pub fn arange(range: Range<i64>, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        Self::arange_step(range, 1, dtype, device)
    }

    /// Every `step`-th integer of a range; the step is not 0.
    pub fn arange_step(
        range: Range<i64>,
        step: usize,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        if step == 0 {
            return Err(Error::argument("arange", "the step is 0"));
        }
        let span = range.end.max(range.start).abs_diff(range.start);
        let len = (span as usize).div_ceil(step);
        let (start, step) = (Scalar::Int(range.start), Scalar::UInt(step as u64));
        Self::sequence(start, step, len, dtype, device)
    }

    /// `start`, `start + step`, … of `len` numbers.
    fn sequence(
        start: Scalar,
        step: Scalar,
        len: usize,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        Self::create(CreateOp::Arange { start, step }, [len], dtype, device)
    }

    /// `len` floats from `start` to `end`, both included, at equal distances.
    pub fn linspace(
        start: f64,
        end: f64,
        len: usize,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        // Before the halves, which may fit where the whole does not.
        op::infer_create(&CreateOp::Full(Scalar::Int(0)), [len].into(), dtype)?;
        let steps = len.saturating_sub(1).max(1) as f64;
        let step = match (end - start) / steps {
            step if step.is_finite() => step,
            _ => end / steps - start / steps,
        };
        let from =
            |from, step, len| Self::sequence(Scalar::Float(from), Scalar::Float(step), len, dtype, device);
        // Each half from its own end, so that neither misses it by the steps' errors.
        let half = len.div_ceil(2);
        Self::cat(
            vec![from(start, step, half)?, from(end, -step, len - half)?.flip([0])?],
            0,
        )
    }

    /// Ones on the main diagonal of a `size × size` matrix, zeros beside it.
    pub fn eye(size: usize, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        op::infer_create(&CreateOp::Full(Scalar::Int(0)), [size, size].into(), dtype)?;
        let (zero, one) = (Scalar::Int(0), Scalar::Int(1));
        let row = Self::sequence(zero, one, size, DType::I32, device)?;
        let column = row.clone().unsqueeze_dim(1)?;
        column.equal(row.unsqueeze_dim(0)?)?.cast(dtype)
    }

    /// Random values; the device's handle holds the source of randomness. An error if the distribution's arguments make no
    /// sense.
    pub fn random(
        shape: impl Into<Shape>,
        distribution: Distribution,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        let shape = shape.into();
        let key = device.keys().next(shape.checked_elements().unwrap_or(0));
        let uniform = |low, high| CreateOp::Uniform { low, high, key };
        match distribution {
            Distribution::Bernoulli(p) if !(0.0..=1.0).contains(&p) => {
                Err(Error::argument("random", format!("{p} is not a probability")))
            }
            Distribution::Bernoulli(p) => Self::create(uniform(0.0, 1.0), shape, DType::F32, device)?
                .lower(p)?
                .cast(dtype),
            Distribution::Default if dtype.is_float() => {
                Self::create(uniform(0.0, 1.0), shape, dtype, device)
            }
            Distribution::Default => {
                let high = if dtype == DType::I8 { 127.0 } else { 255.0 };
                Self::drawn(uniform(0.0, high), shape, dtype, device)
            }
            Distribution::Uniform(low, high) => Self::drawn(uniform(low, high), shape, dtype, device),
            Distribution::Normal(mean, std) => {
                Self::drawn(CreateOp::Normal { mean, std, key }, shape, dtype, device)
            }
        }
    }

    /// Random values, of the shape, element type and device of this tensor.
    pub fn random_like(&self, distribution: Distribution) -> Result<Self, Error> {
        Self::random(self.shape().clone(), distribution, self.dtype(), &self.device())
    }

    /// Random floats, or integers made of the widest floats that the device holds.
    fn drawn(op: CreateOp, shape: Shape, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        if dtype.is_float() {
            return Self::create(op, shape, dtype, device);
        }
        let wide = if B::dtypes(device).contains(&DType::F64) {
            DType::F64
        } else {
            DType::F32
        };
        Self::create(op, shape, wide, device)?.floor()?.cast(dtype)
    }

    /// A new last axis of `classes` elements, 1 at the index that this tensor holds and 0 elsewhere. An error if an
    /// index is not in `0..classes`.
    pub fn one_hot(self, classes: usize) -> Result<Self, Error> {
        if !self.dtype().is_int() {
            return Err(Error::dtype("one_hot", self.dtype(), "integer classes"));
        }
        let mut shape = self.shape().to_vec();
        shape.push(classes);
        let axis = shape.len() - 1;
        let index = self.unsqueeze_dim(axis)?;
        let zeros = Self::zeros(shape, index.dtype(), &index.device())?;
        zeros.scatter(axis, index.clone(), index.ones_like()?, op::ScatterMode::Set)
    }

    /// A new axis of `classes` elements at place `axis` of the result: `on` at the index that this tensor holds, which may
    /// count from the end, and `off` elsewhere, everywhere for an index that is none. Fractions of an index are cut off.
    pub fn one_hot_fill(
        self,
        classes: usize,
        on: impl Into<Scalar>,
        off: impl Into<Scalar>,
        axis: usize,
    ) -> Result<Self, Error> {
        let (op, dtype, on) = ("one_hot_fill", self.dtype(), on.into());
        if !on.fits(dtype) || dtype == DType::Bool {
            let message = format!("the number {on} is none for {dtype} elements");
            return Err(Error::argument(op, message));
        }
        let x = self.unsqueeze_dim(axis).map_err(|error| error.of(op))?;
        let hot = Self::full(x.shape().clone().with(axis, classes), off, dtype, &x.device())
            .map_err(|error| error.of(op))?;
        // Beside an axis of size 0 there is no bound on the classes.
        if hot.shape().num_elements() == 0 {
            return Ok(hot);
        }
        // What is not in the range of `i64` is no class, and must not wrap or saturate into one.
        let index = match dtype {
            DType::U64 => x.min_pair(i64::MAX)?,
            dtype if dtype.is_float() => {
                let nan = x.clone().is_nan()?;
                x.mask_where(nan, f64::INFINITY)?
            }
            _ => x,
        };
        let index = index.cast(DType::I64)?;
        let from_end = index.clone().lower(0)?;
        let wrapped = index.clone().add(classes as i64)?;
        let index = index.mask_where(from_end, wrapped)?;
        let places = hot.positions(axis)?.cast(DType::I64)?;
        hot.mask_where(index.equal(places)?, on)
    }

    /// Draws `samples` indices of the last axis, with repetition, as `i32`: the weights that it holds, 0 or more, are in
    /// proportion to the probabilities. The last axis of the result holds the samples.
    pub fn categorical(self, samples: usize) -> Result<Self, Error> {
        let op = "categorical";
        let Some((&classes, batch)) = self.shape().split_last() else {
            return Err(Error::rank(op, 0, "weights along the last axis, rank 1 or more"));
        };
        self.floats(op)?;
        if samples == 0 || classes == 0 {
            return Err(Error::argument(
                op,
                format!("{samples} samples of {classes} classes"),
            ));
        }
        let axis = batch.len();
        let weights = self.widen()?;
        let shape = weights.shape().clone().with(axis, samples);
        let sums = weights.clone().cumsum(axis)?;
        let total = sums.clone().narrow(axis, classes - 1, 1)?;
        let drawn =
            Self::random(shape, Distribution::Default, weights.dtype(), &weights.device())?.mul(total)?;
        // As many classes come before the one drawn as have sums up to it.
        let before = sums
            .unsqueeze_dim(axis + 1)?
            .lower_equal(drawn.unsqueeze_dim(axis)?)?;
        let before = before.cast(DType::I32)?.sum_dim(axis)?.squeeze_dim(axis)?;
        // A number that was rounded up to the total draws the last class that has a weight.
        let positive = weights.clone().greater(0.0)?;
        let last = positive.choose(weights.positions(axis)?, 0)?.max_dim(axis)?;
        before.min_pair(last)
    }
}

/// An error if places along an axis do not fit an `i32`.
fn within_reach(op: &'static str, len: usize) -> Result<(), Error> {
    if len <= i32::MAX as usize {
        return Ok(());
    }
    let message = format!("{len} elements are more than an i32 index reaches");
    Err(Error::argument(op, message))
}
