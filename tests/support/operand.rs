//! Operands that are described, then placed on any backend: values from a seed, in any memory layout.

use keyway::op::random::philox;
use keyway::op::{HasMeta, Meta, SliceRange};
use keyway::op::{MoveOp, Op};
use keyway::raw::Raw;
use keyway::{Backend, DType, Error, Shape, TensorData};

use super::reference::{Dense, Value};

/// A tensor to be: its shape, its element type, and what its values are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub meta: Meta,
    pub fill: Fill,
}

/// What values are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Floats in `-2..2`, integers in `-4..=4`, with ties.
    Tame,
    /// Floats of magnitude `0.75..1.5`, integers in `-4..=4`: long products stay in range.
    Unit,
    /// As `Tame`, now and then NaN, an infinity or a zero of either sign.
    Spiked,
    /// Everything that the type can hold, with its extremes, subnormals and special values often.
    Wild,
    /// The special values of the type, one after another.
    Special,
    /// Integers from 0 up to a bound, exclusive.
    Below(usize),
    /// This value everywhere.
    Same(i64),
}

/// How the elements lie in memory. Every layout is a buffer of another shape and the views that lead from it to the
/// shape wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    Contiguous,
    Permuted,
    Sliced,
    SlicedBackwards,
    Flipped,
    /// Stretched along one axis.
    Expanded,
    /// Stretched along every axis.
    Uniform,
    Mixed,
}

impl HasMeta for Operand {
    fn shape(&self) -> &Shape {
        &self.meta.shape
    }
    fn dtype(&self) -> DType {
        self.meta.dtype
    }
}

impl Operand {
    pub fn new(shape: impl Into<Shape>, dtype: DType, fill: Fill) -> Self {
        Operand {
            meta: Meta {
                shape: shape.into(),
                dtype,
            },
            fill,
        }
    }

    /// The tensor on a backend; `prepare` sees the buffer before the views of the layout are taken.
    pub fn place<B: Backend>(
        &self,
        layout: Layout,
        seed: u64,
        device: &B::Device,
        prepare: impl Fn(Raw<B>) -> Raw<B>,
    ) -> Result<Raw<B>, Error> {
        self.view(layout, prepare(self.buffer(layout, seed, device)?))
    }

    /// The buffer from which the views of a layout lead to the tensor.
    pub fn buffer<B: Backend>(&self, layout: Layout, seed: u64, device: &B::Device) -> Result<Raw<B>, Error> {
        let data = self.fill.data(layout.base(self.shape()), self.dtype(), seed);
        Raw::from_data(data, device)
    }

    /// The tensor, as a view of its buffer.
    pub fn view<B: Backend>(&self, layout: Layout, buffer: Raw<B>) -> Result<Raw<B>, Error> {
        let mut views = layout.views(self.shape()).into_iter();
        views.try_fold(buffer, |x, view| Raw::run(Op::Move(view, x)))
    }
}

impl Fill {
    /// The values of a tensor, from a seed.
    pub fn data(self, shape: Shape, dtype: DType, seed: u64) -> TensorData {
        let specials = specials(dtype);
        let mut place = 0;
        Dense::fill(&Meta { shape, dtype }, |_| {
            place += 1;
            self.value(dtype, &specials, place - 1, philox(seed, place as u64))
        })
        .to_data()
    }

    fn value(self, dtype: DType, specials: &[Value], place: usize, [kind, a, b, c]: [u32; 4]) -> Value {
        let pick = |values: &[Value]| values[a as usize % values.len()];
        let unit = f64::from(a) / f64::from(u32::MAX);
        match self {
            Fill::Below(bound) => Value::Int((u64::from(a) % bound.max(1) as u64).into()),
            Fill::Same(value) => Value::Int(value.into()),
            Fill::Special => specials[place % specials.len()],
            _ if dtype == DType::Bool => Value::Bool(a % 2 == 0),
            Fill::Wild if kind % 2 == 0 => pick(specials),
            Fill::Wild if dtype.is_float() => Value::Float((unit - 0.5) * 2f64.powi(b as i32 % 24)),
            Fill::Wild => Value::Int((i128::from(b) << 32 | i128::from(c)) >> (a % 64)),
            Fill::Spiked if dtype.is_float() && kind % 8 == 0 => {
                pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0].map(Value::Float))
            }
            Fill::Unit if dtype.is_float() => {
                Value::Float((0.75 + 0.75 * unit) * if b % 2 == 0 { 1.0 } else { -1.0 })
            }
            _ if !dtype.is_float() => Value::Int(i128::from(a % 9) - 4),
            _ if kind % 4 == 0 => Value::Float(f64::from(a % 5) - 2.0),
            _ => Value::Float(4.0 * unit - 2.0),
        }
    }
}

/// The values of a type that go wrong most.
pub fn specials(dtype: DType) -> Vec<Value> {
    if dtype == DType::Bool {
        return vec![Value::Bool(false), Value::Bool(true)];
    }
    let values = if dtype.is_float() {
        let limits = Limits::of(dtype);
        [
            0.0,
            1.0,
            0.5,
            1.5,
            2.0,
            2.5,
            3.0,
            0.1,
            1e-3,
            7.0,
            20.0,
            100.0,
            limits.normal,
            limits.least,
            limits.max,
            limits.epsilon,
            std::f64::consts::PI,
            f64::INFINITY,
            f64::NAN,
        ]
        .iter()
        .flat_map(|&x| [Value::Float(x), Value::Float(-x)])
        .collect()
    } else {
        let bits = 8 * dtype.size() as u32;
        let (least, greatest) = if dtype.is_unsigned() {
            (0, (1i128 << bits) - 1)
        } else {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        };
        [
            0,
            1,
            -1,
            2,
            -2,
            3,
            -3,
            5,
            7,
            -8,
            31,
            32,
            33,
            63,
            64,
            100,
            least,
            least + 1,
            greatest,
            greatest - 1,
            greatest / 2,
        ]
        .map(Value::Int)
        .to_vec()
    };
    values.into_iter().map(|value: Value| value.to(dtype)).collect()
}

/// The numbers that describe a float type.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The distance from 1 to the next value.
    pub epsilon: f64,
    /// The greatest finite value.
    pub max: f64,
    /// The least positive value of full precision.
    pub normal: f64,
    /// The least positive value.
    pub least: f64,
}

impl Limits {
    /// # Panics
    /// If `dtype` is not a float type.
    pub fn of(dtype: DType) -> Self {
        let (digits, max, exponent) = match dtype {
            DType::F64 => (52, f64::MAX, -1022),
            DType::F32 => (23, f32::MAX.into(), -126),
            DType::F16 => (10, 65504.0, -14),
            DType::BF16 => (7, (2.0 - 2f64.powi(-7)) * 2f64.powi(127), -126),
            other => panic!("{other} is no float type"),
        };
        let normal = 2f64.powi(exponent);
        let epsilon = 2f64.powi(-digits);
        Limits {
            epsilon,
            max,
            normal,
            least: normal * epsilon,
        }
    }

    /// The distance between the values of this type around `x`.
    pub fn ulp(self, x: f64) -> f64 {
        if x.abs() < self.normal {
            return self.least;
        }
        2f64.powi(x.abs().min(self.max).log2().floor() as i32) * self.epsilon
    }
}

impl Layout {
    pub const ALL: &[Layout] = &[
        Layout::Contiguous,
        Layout::Permuted,
        Layout::Sliced,
        Layout::SlicedBackwards,
        Layout::Flipped,
        Layout::Expanded,
        Layout::Uniform,
        Layout::Mixed,
    ];

    /// The shape of the buffer from which the views lead to `shape`.
    fn base(self, shape: &Shape) -> Shape {
        let spread = |n: &usize| 2 * n + 1;
        match self {
            Layout::Contiguous | Layout::Flipped => shape.clone(),
            Layout::Permuted => shape.iter().rev().copied().collect(),
            Layout::Sliced | Layout::SlicedBackwards => shape.iter().map(spread).collect(),
            Layout::Expanded if shape.rank() > 0 => shape.clone().with(shape.rank() / 2, 1),
            Layout::Expanded => shape.clone(),
            Layout::Uniform => shape.iter().map(|_| 1).collect(),
            Layout::Mixed => shape.iter().rev().map(spread).collect(),
        }
    }

    /// The views that lead from the buffer to `shape`.
    fn views(self, shape: &Shape) -> Vec<MoveOp> {
        let axes = 0..shape.rank();
        let every_second = |shape: &mut dyn Iterator<Item = &usize>, step: isize| {
            MoveOp::Slice(
                shape
                    .map(|n| SliceRange {
                        start: 1,
                        end: 2 * n + 1,
                        step,
                    })
                    .collect(),
            )
        };
        match self {
            Layout::Contiguous => vec![],
            Layout::Permuted => vec![MoveOp::Permute(axes.rev().collect())],
            Layout::Sliced => vec![every_second(&mut shape.iter(), 2)],
            Layout::SlicedBackwards => vec![every_second(&mut shape.iter(), -2)],
            Layout::Flipped => vec![MoveOp::Flip(axes.collect())],
            Layout::Expanded | Layout::Uniform => vec![MoveOp::Expand(shape.clone())],
            Layout::Mixed => vec![
                every_second(&mut shape.iter().rev(), 2),
                MoveOp::Permute(axes.clone().rev().collect()),
                MoveOp::Flip(axes.step_by(2).collect()),
            ],
        }
    }
}
