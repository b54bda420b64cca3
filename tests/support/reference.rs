//! The executable definition of the vocabulary: a backend that is small, slow and obviously right.
//!
//! A tensor is a list of values in row-major order. Floats are computed in `f64` and rounded to the element type once,
//! in [`Dense::fill`]; integers are computed in `i128` and wrapped. Element-wise ops are those of [`scalar`], every
//! other op is the loop that its definition says. With the backends it shares the random generator and the lowerings of
//! fused ops, which define them, and nothing else.

use std::cmp::Ordering;
use std::f64::consts::TAU;
use std::fmt;
use std::sync::Arc;

use keyway::backend::BackendTypes;
use keyway::op::random::{self, KeySource};
use keyway::op::{
    Arg, BinaryOp, CompareOp, ConvOp, ConvOptions, CreateOp, FusedOp, HasMeta, IndexOp, Meta, MoveOp, Op,
    PadMode, PoolOp, PoolOptions, ReduceOp, ScanOp, ScatterMode, SliceRange, UnaryOp, lower, scalar,
};
use keyway::{
    Backend, Buffer, DType, Device, Dims, Element, Error, Local, LocalBackend, Name, PlainBackend, Readable,
    Scalar, Shape, Supports, TensorData, with_buffer, with_dtype,
};

/// The reference backend.
#[derive(Clone, Copy, Debug)]
pub struct Reference;

/// Its only device.
#[derive(Clone, Debug)]
pub struct Host(Arc<KeySource>);

/// A tensor: a value for every index, in row-major order.
#[derive(Clone, Debug)]
pub struct Dense {
    pub meta: Meta,
    pub values: Vec<Value>,
}

/// One element of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Float(f64),
    Int(i128),
    Bool(bool),
}

type Result<T> = std::result::Result<T, Error>;

impl Default for Host {
    fn default() -> Self {
        Host(Arc::new(KeySource::new(0)))
    }
}

impl PartialEq for Host {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Device for Host {
    fn keys(&self) -> &KeySource {
        &self.0
    }
}

impl BackendTypes for Reference {
    type Device = Host;
    type Primitive = Dense;
}

impl<E: Element> Supports<E> for Reference {}
impl PlainBackend for Reference {}
impl LocalBackend for Reference {}

impl Backend for Reference {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &Host) -> Name {
        "Reference".into()
    }
    fn dtypes(_: &Host) -> &[DType] {
        DType::ALL
    }
    fn device(_: &Dense) -> Host {
        Host::default()
    }
    fn upload(data: TensorData, _: &Host) -> Result<Dense> {
        Ok(Dense::from_data(&data))
    }
    fn to_device(x: Dense, _: &Host) -> Result<Dense> {
        Ok(x)
    }
    fn sync(_: &Host) -> Result<()> {
        Ok(())
    }
    fn create(op: CreateOp, meta: &Meta, _: &Host) -> Result<Dense> {
        Ok(create(op, meta))
    }
    fn execute(op: Op<Dense>, meta: &Meta) -> Result<Dense> {
        match op {
            Op::Unary(op, x) => Ok(Dense::fill(meta, |i| unary(op, x.at(i)))),
            Op::Binary(op, a, b) => Dense::try_fill(meta, |i| {
                binary(op, value(&a, i, meta.dtype), value(&b, i, meta.dtype), meta.dtype)
            }),
            Op::Compare(op, a, b) => {
                let dtype = a
                    .tensor()
                    .or(b.tensor())
                    .expect("`infer` asks for a tensor")
                    .dtype();
                Ok(Dense::fill(meta, |i| {
                    compare(op, value(&a, i, dtype), value(&b, i, dtype))
                }))
            }
            Op::Reduce(op, x, axes) => Ok(reduce(op, &x, &axes, meta)),
            Op::Scan(op, x, axis) => Ok(scan(op, &x, axis, meta)),
            Op::Move(op, x) => Ok(movement(&op, &x, meta)),
            Op::Cat(xs, axis) => Ok(cat(&xs, axis, meta)),
            Op::Index(op) => index(*op, meta),
            Op::Matmul(a, b) => Ok(matmul(&a, &b, meta)),
            Op::Conv(op) => Ok(conv(&op, meta)),
            Op::Pool(op, x) => Ok(pool(&op, &x, meta)),
            Op::Cast(_, x) => Ok(Dense::fill(meta, |i| x.at(i))),
            Op::Fused(op) => fused(*op, meta),
        }
    }
}

impl Readable for Reference {
    fn into_data(x: Dense) -> Result<TensorData> {
        Ok(x.to_data())
    }
}

impl HasMeta for Dense {
    fn shape(&self) -> &Shape {
        &self.meta.shape
    }
    fn dtype(&self) -> DType {
        self.meta.dtype
    }
}

impl Value {
    /// The value of a scalar.
    pub fn of(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Float(x) => Value::Float(x),
            Scalar::Int(x) => Value::Int(x.into()),
            Scalar::UInt(x) => Value::Int(x.into()),
            Scalar::Bool(x) => Value::Bool(x),
        }
    }

    /// The value in an element type: rounded, wrapped, or converted as Rust's `as` does.
    pub fn to(self, dtype: DType) -> Self {
        let scalar = match self {
            Value::Float(x) => Scalar::Float(x),
            Value::Int(x) if x > i64::MAX.into() => Scalar::UInt(x as u64),
            Value::Int(x) => Scalar::Int(x as i64),
            Value::Bool(x) => Scalar::Bool(x),
        };
        with_dtype!(dtype, E => Value::of(scalar.to::<E>().to_scalar()))
    }

    pub fn float(self) -> f64 {
        match self {
            Value::Float(x) => x,
            other => panic!("{other:?} is no float"),
        }
    }

    pub fn int(self) -> i128 {
        match self {
            Value::Int(x) => x,
            other => panic!("{other:?} is no integer"),
        }
    }

    fn is_true(self) -> bool {
        self == Value::Bool(true)
    }
}

impl Dense {
    /// The tensor whose element at each index is `f` of it, rounded or wrapped to the element type.
    pub fn fill(meta: &Meta, mut f: impl FnMut(&[usize]) -> Value) -> Dense {
        let values = indices(&meta.shape).map(|i| f(&i).to(meta.dtype)).collect();
        Dense {
            meta: meta.clone(),
            values,
        }
    }

    fn try_fill(meta: &Meta, mut f: impl FnMut(&[usize]) -> Result<Value>) -> Result<Dense> {
        let values = indices(&meta.shape)
            .map(|i| Ok(f(&i)?.to(meta.dtype)))
            .collect::<Result<_>>()?;
        Ok(Dense {
            meta: meta.clone(),
            values,
        })
    }

    fn zeros(meta: &Meta) -> Dense {
        Dense::fill(meta, |_| Value::Int(0))
    }

    /// The element at an index; an axis of size 1 stretches.
    pub fn at(&self, index: &[usize]) -> Value {
        self.values[self.position(index)]
    }

    fn set(&mut self, index: &[usize], value: Value) {
        let position = self.position(index);
        self.values[position] = value;
    }

    fn position(&self, index: &[usize]) -> usize {
        let shape = &self.meta.shape;
        assert_eq!(index.len(), shape.rank());
        index.iter().zip(shape.iter()).fold(0, |n, (&i, &size)| {
            let i = if size == 1 { 0 } else { i };
            assert!(i < size);
            n * size + i
        })
    }

    /// This tensor in another element type.
    pub fn cast(&self, dtype: DType) -> Dense {
        let shape = self.meta.shape.clone();
        Dense::fill(&Meta { shape, dtype }, |i| self.at(i))
    }

    /// The values on the host.
    pub fn from_data(data: &TensorData) -> Dense {
        let values = with_buffer!(data.buffer(), v => v.iter().map(|x| Value::of(x.to_scalar())).collect());
        let meta = Meta {
            shape: data.shape().clone(),
            dtype: data.dtype(),
        };
        Dense { meta, values }
    }

    /// The values on the host.
    pub fn to_data(&self) -> TensorData {
        fn element<E: Element>(value: &Value) -> E {
            match *value {
                Value::Float(x) => E::from_scalar(Scalar::Float(x)),
                Value::Int(x) if x > i64::MAX.into() => E::from_scalar(Scalar::UInt(x as u64)),
                Value::Int(x) => E::from_scalar(Scalar::Int(x as i64)),
                Value::Bool(x) => E::from_scalar(Scalar::Bool(x)),
            }
        }
        let buffer: Buffer =
            with_dtype!(self.meta.dtype, E => E::into_buffer(self.values.iter().map(element::<E>).collect()));
        TensorData::from_buffer(buffer, self.meta.shape.clone()).expect("a value for every index")
    }
}

/// The element type, the shape and the first values.
impl fmt::Display for Dense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} [", self.meta.dtype, self.meta.shape)?;
        for (i, value) in self.values.iter().take(48).enumerate() {
            let gap = if i == 0 { "" } else { ", " };
            match value {
                Value::Float(x) => write!(f, "{gap}{x:?}")?,
                Value::Int(x) => write!(f, "{gap}{x}")?,
                Value::Bool(x) => write!(f, "{gap}{x}")?,
            }
        }
        f.write_str(if self.values.len() > 48 { ", …]" } else { "]" })
    }
}

/// Every index of a shape, in row-major order.
pub fn indices(shape: &[usize]) -> impl Iterator<Item = Dims> + Clone + '_ {
    (0..shape.iter().product()).map(|position| unravel(position, shape))
}

fn unravel(mut position: usize, shape: &[usize]) -> Dims {
    let mut index: Dims = shape.into();
    for i in index.iter_mut().rev() {
        let size = *i;
        *i = position % size;
        position /= size;
    }
    index
}

/// `index` with the entry of one axis replaced.
fn with(index: &[usize], axis: usize, i: usize) -> Dims {
    let mut index = Dims::from_slice(index);
    index[axis] = i;
    index
}

fn create(op: CreateOp, meta: &Meta) -> Dense {
    let n = meta.shape.num_elements();
    let floats = |values: Vec<f64>| Dense {
        meta: meta.clone(),
        values: values
            .into_iter()
            .map(|x| Value::Float(x).to(meta.dtype))
            .collect(),
    };
    let wide = meta.dtype == DType::F64;
    match op {
        CreateOp::Full(value) => Dense::fill(meta, |_| Value::of(value)),
        CreateOp::Arange { start, step } => {
            // Floats are rounded once; integers take part as elements do.
            let element = |s| {
                Value::of(s).to(if meta.dtype.is_float() {
                    DType::F64
                } else {
                    meta.dtype
                })
            };
            Dense::fill(meta, |i| match (element(start), element(step)) {
                (Value::Float(start), Value::Float(step)) => Value::Float(start + i[0] as f64 * step),
                (start, step) => Value::Int(start.int() + i[0] as i128 * step.int()),
            })
        }
        CreateOp::Uniform { low, high, key } if wide => floats(
            random::uniform_f64(key, 0, n)
                .map(|u| random::scale_f64(u, low, high))
                .collect(),
        ),
        CreateOp::Uniform { low, high, key } => floats(
            random::uniform_f32(key, 0, n)
                .map(|u| random::scale_f32(u, low, high, meta.dtype).into())
                .collect(),
        ),
        CreateOp::Normal { mean, std, key } if wide => {
            floats(random::normal_f64(key, 0, n).map(|z| mean + std * z).collect())
        }
        CreateOp::Normal { mean, std, key } => floats(
            random::normal_f32(key, 0, n)
                .map(|z| mean + std * f64::from(z))
                .collect(),
        ),
    }
}

fn unary(op: UnaryOp, x: Value) -> Value {
    match x {
        Value::Float(x) if matches!(op, UnaryOp::IsNan | UnaryOp::IsInf) => {
            Value::Bool(scalar::classify(op, x))
        }
        Value::Float(x) => Value::Float(scalar::unary_float(op, x)),
        Value::Int(x) => Value::Int(scalar::unary_int(op, x)),
        Value::Bool(x) => Value::Bool(!x),
    }
}

/// An operand's value at an index, taken to an element type.
fn value(x: &Arg<Dense>, index: &[usize], dtype: DType) -> Value {
    match x {
        Arg::Tensor(x) => x.at(index),
        Arg::Scalar(x) => Value::of(*x).to(dtype),
    }
}

fn binary(op: BinaryOp, a: Value, b: Value, dtype: DType) -> Result<Value> {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(scalar::binary_float(op, a, b))),
        (Value::Int(a), Value::Int(b)) => scalar::binary_int(op, a, b, 8 * dtype.size() as u32)
            .map(|x| Value::Int(x).to(dtype))
            .ok_or_else(|| Error::argument(op.name(), "an integer is divided by zero")),
        (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(scalar::binary_bool(op, a, b))),
        _ => unreachable!("operands have one element type"),
    }
}

/// A binary op that never fails, as a step of a longer one: floats stay in `f64`, integers wrap.
fn step(op: BinaryOp, a: Value, b: Value, dtype: DType) -> Value {
    binary(op, a, b, dtype).expect("no division")
}

fn compare(op: CompareOp, a: Value, b: Value) -> Value {
    Value::Bool(match (a, b) {
        (Value::Float(a), Value::Float(b)) => scalar::compare(op, a, b),
        (Value::Int(a), Value::Int(b)) => scalar::compare(op, a, b),
        (Value::Bool(a), Value::Bool(b)) => scalar::compare(op, a, b),
        _ => unreachable!("operands have one element type"),
    })
}

fn reduce(op: ReduceOp, x: &Dense, axes: &[usize], meta: &Meta) -> Dense {
    let group: Shape = (0..x.shape().rank())
        .map(|a| if axes.contains(&a) { x.shape()[a] } else { 1 })
        .collect();
    let zero = Value::Int(0).to(x.dtype());
    let one = Value::Int(1).to(x.dtype());
    Dense::fill(meta, |out| {
        // A reduced axis of `out` is at 0, every other axis of `group` is.
        let mut members =
            indices(&group).map(|i| x.at(&i.iter().zip(out).map(|(i, o)| i + o).collect::<Dims>()));
        let from = members.clone();
        let fold = |op, first| from.clone().fold(first, |a, b| step(op, a, b, x.dtype()));
        match op {
            ReduceOp::Sum => fold(BinaryOp::Add, zero),
            ReduceOp::Mean => Value::Float(fold(BinaryOp::Add, zero).float() / group.num_elements() as f64),
            ReduceOp::Prod => fold(BinaryOp::Mul, one),
            ReduceOp::Max => members
                .reduce(|a, b| step(BinaryOp::Max, a, b, x.dtype()))
                .expect("not empty"),
            ReduceOp::Min => members
                .reduce(|a, b| step(BinaryOp::Min, a, b, x.dtype()))
                .expect("not empty"),
            ReduceOp::ArgMax => Value::Int(extreme(members, Ordering::Greater) as i128),
            ReduceOp::ArgMin => Value::Int(extreme(members, Ordering::Less) as i128),
            ReduceOp::Any => Value::Bool(members.any(Value::is_true)),
            ReduceOp::All => Value::Bool(members.all(Value::is_true)),
        }
    })
}

/// Where the first extreme value is; a NaN is more extreme than every number.
fn extreme(values: impl Iterator<Item = Value>, side: Ordering) -> usize {
    let is_nan = |x: Value| matches!(x, Value::Float(x) if x.is_nan());
    let beats = |a: Value, b: Value| match (is_nan(a), is_nan(b)) {
        (false, false) => order(a, b) == side,
        (a, b) => a && !b,
    };
    let first = |best: (usize, Value), x: (usize, Value)| if beats(x.1, best.1) { x } else { best };
    values.enumerate().reduce(first).expect("not empty").0
}

/// The order of sorting: NaN is greater than everything.
fn order(a: Value, b: Value) -> Ordering {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => {
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (Value::Int(a), Value::Int(b)) => a.cmp(&b),
        _ => unreachable!("truth values have no order"),
    }
}

/// The tensor whose line along `axis` at each place is `f` of the line of `x` there.
fn lines(x: &Dense, axis: usize, meta: &Meta, f: impl Fn(Vec<Value>) -> Vec<Value>) -> Dense {
    let mut out = Dense::zeros(meta);
    if x.values.is_empty() {
        // There may be more empty lines than can be counted.
        return out;
    }
    for start in indices(&x.shape().clone().with(axis, 1)) {
        let line = (0..x.shape()[axis])
            .map(|i| x.at(&with(&start, axis, i)))
            .collect();
        for (i, value) in f(line).into_iter().enumerate() {
            out.set(&with(&start, axis, i), value.to(meta.dtype));
        }
    }
    out
}

fn scan(op: ScanOp, x: &Dense, axis: usize, meta: &Meta) -> Dense {
    let op = match op {
        ScanOp::Sum => BinaryOp::Add,
        ScanOp::Prod => BinaryOp::Mul,
        ScanOp::Max => BinaryOp::Max,
        ScanOp::Min => BinaryOp::Min,
    };
    lines(x, axis, meta, |line| {
        let mut so_far = None;
        let running = |x| {
            let next = so_far.map_or(x, |a| step(op, a, x, meta.dtype));
            so_far = Some(next);
            next
        };
        line.into_iter().map(running).collect()
    })
}

/// The places of a line's values in order, `infer` gives them the type `i32`.
fn argsort(line: &[Value], descending: bool) -> Vec<Value> {
    let mut places: Vec<usize> = (0..line.len()).collect();
    places.sort_by(|&a, &b| {
        let ascending = order(line[a], line[b]);
        if descending {
            ascending.reverse()
        } else {
            ascending
        }
    });
    places
        .into_iter()
        .map(|place| Value::Int(place as i128))
        .collect()
}

fn movement(op: &MoveOp, x: &Dense, meta: &Meta) -> Dense {
    let size = x.shape().clone();
    match op {
        MoveOp::Reshape(_) => Dense {
            meta: meta.clone(),
            values: x.values.clone(),
        },
        MoveOp::Permute(axes) => Dense::fill(meta, |out| {
            let mut from = Dims::from_slice(out);
            axes.iter().zip(out).for_each(|(&axis, &i)| from[axis] = i);
            x.at(&from)
        }),
        MoveOp::Expand(_) => Dense::fill(meta, |out| x.at(out)),
        MoveOp::Slice(ranges) => Dense::fill(meta, |out| x.at(&sliced(ranges, out))),
        MoveOp::Flip(axes) => Dense::fill(meta, |out| {
            let mut from = Dims::from_slice(out);
            axes.iter()
                .for_each(|&axis| from[axis] = size[axis] - 1 - out[axis]);
            x.at(&from)
        }),
        MoveOp::Pad(pads, mode) => Dense::fill(meta, |out| {
            let place = |axis: usize| {
                let (i, n) = (out[axis] as isize - pads[axis].0 as isize, size[axis] as isize);
                let inside = match mode {
                    _ if (0..n).contains(&i) => Some(i),
                    PadMode::Constant(_) => None,
                    PadMode::Reflect if i < 0 => Some(-i),
                    PadMode::Reflect => Some(2 * (n - 1) - i),
                    PadMode::Replicate => Some(i.clamp(0, n - 1)),
                    PadMode::Circular => Some(i.rem_euclid(n)),
                };
                inside.map(|i| i as usize)
            };
            match ((0..size.rank()).map(place).collect::<Option<Dims>>(), mode) {
                (Some(from), _) => x.at(&from),
                (None, PadMode::Constant(value)) => Value::of(*value),
                (None, _) => unreachable!("the other modes pad from the tensor"),
            }
        }),
        MoveOp::Repeat(_) => Dense::fill(meta, |out| {
            x.at(&out.iter().zip(size.iter()).map(|(i, n)| i % n).collect::<Dims>())
        }),
    }
}

/// The place in the sliced tensor of an element of the slice.
fn sliced(ranges: &[SliceRange], index: &[usize]) -> Dims {
    let place = |(range, &i): (&SliceRange, &usize)| match range.step {
        step if step > 0 => range.start + i * step.unsigned_abs(),
        step => range.end - 1 - i * step.unsigned_abs(),
    };
    ranges.iter().zip(index).map(place).collect()
}

fn cat(xs: &[Dense], axis: usize, meta: &Meta) -> Dense {
    Dense::fill(meta, |out| {
        let mut i = out[axis];
        for x in xs {
            if i < x.shape()[axis] {
                return x.at(&with(out, axis, i));
            }
            i -= x.shape()[axis];
        }
        unreachable!("the sizes add up")
    })
}

/// An index read from a tensor, if it lies in its axis.
fn checked(op: &'static str, index: Value, axis: usize, size: usize) -> Result<usize> {
    let index = index.int();
    if (0..size as i128).contains(&index) {
        return Ok(index as usize);
    }
    let index = index.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    Err(Error::Index {
        op: op.into(),
        index,
        axis,
        size,
    })
}

fn written(mode: ScatterMode, old: Value, new: Value, dtype: DType) -> Value {
    match mode {
        ScatterMode::Set => new,
        ScatterMode::Add => step(BinaryOp::Add, old, new, dtype),
        ScatterMode::Mul => step(BinaryOp::Mul, old, new, dtype),
        ScatterMode::Max => step(BinaryOp::Max, old, new, dtype),
        ScatterMode::Min => step(BinaryOp::Min, old, new, dtype),
    }
}

fn index(op: IndexOp<Dense>, meta: &Meta) -> Result<Dense> {
    let name = op.name();
    // An index of rank 1 is checked also where the other axes are empty.
    let places = |index: &Dense, axis, size| -> Result<Vec<usize>> {
        let each = index.values.iter();
        each.map(|&place| checked(name, place, axis, size)).collect()
    };
    // Writes each element of `src` to a place of `x`; the sum is rounded when all are written.
    let write = |mut x: Dense, src: Dense, mode, place: &dyn Fn(&[usize]) -> Result<Dims>| {
        for from in indices(src.shape()) {
            let to = place(&from)?;
            x.set(&to, written(mode, x.at(&to), src.at(&from), meta.dtype));
        }
        Ok(Dense::fill(meta, |i| x.at(i)))
    };
    match op {
        IndexOp::Gather { x, index, axis } => Dense::try_fill(meta, |out| {
            Ok(x.at(&with(
                out,
                axis,
                checked(name, index.at(out), axis, x.shape()[axis])?,
            )))
        }),
        IndexOp::Select { x, index, axis } => {
            let places = places(&index, axis, x.shape()[axis])?;
            Ok(Dense::fill(meta, |out| x.at(&with(out, axis, places[out[axis]]))))
        }
        IndexOp::Scatter {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            let size = x.shape()[axis];
            write(x, src, mode, &|from| {
                Ok(with(from, axis, checked(name, index.at(from), axis, size)?))
            })
        }
        IndexOp::SelectAssign {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            let places = places(&index, axis, x.shape()[axis])?;
            write(x, src, mode, &|from| Ok(with(from, axis, places[from[axis]])))
        }
        IndexOp::SliceAssign { x, src, ranges } => {
            write(x, src, ScatterMode::Set, &|from| Ok(sliced(&ranges, from)))
        }
        IndexOp::Where {
            cond,
            on_true,
            on_false,
        } => Ok(Dense::fill(meta, |i| {
            value(
                if cond.at(i).is_true() { &on_true } else { &on_false },
                i,
                meta.dtype,
            )
        })),
        IndexOp::ArgSort { x, axis, descending } => {
            Ok(lines(&x, axis, meta, |line| argsort(&line, descending)))
        }
        IndexOp::TopK { x, axis, k, largest } => Ok(lines(&x, axis, meta, |line| {
            argsort(&line, largest).into_iter().take(k).collect()
        })),
    }
}

fn matmul(a: &Dense, b: &Dense, meta: &Meta) -> Dense {
    let rank = meta.shape.rank();
    let (row, column) = (rank - 2, rank - 1);
    Dense::fill(meta, |out| {
        (0..a.shape()[column]).fold(Value::Int(0).to(meta.dtype), |sum, k| {
            let product = step(
                BinaryOp::Mul,
                a.at(&with(out, column, k)),
                b.at(&with(out, row, k)),
                meta.dtype,
            );
            step(BinaryOp::Add, sum, product, meta.dtype)
        })
    })
}

/// Every multiplication of a convolution, as the places of its input element, its weight, and the output element
/// that the product adds to. The three ops of the family are sums over these, each for another of the three places.
fn taps(
    input: &[usize],
    weight: &[usize],
    output: &[usize],
    options: &ConvOptions,
    mut f: impl FnMut([&[usize]; 3]),
) {
    let axes = input.len() - 2;
    let per_group = weight[0] / options.groups;
    for out in indices(output) {
        for tap in indices(&weight[1..]) {
            // `tap` is the channel in its group and the place in the kernel.
            let place = |axis: usize| {
                let padded = out[axis + 2] * options.stride[axis] + tap[axis + 1] * options.dilation[axis];
                padded
                    .checked_sub(options.padding[axis].0)
                    .filter(|&i| i < input[axis + 2])
            };
            if let Some(place) = (0..axes).map(place).collect::<Option<Dims>>() {
                let channel = out[1] / per_group * weight[1] + tap[0];
                let from: Dims = [out[0], channel].into_iter().chain(place).collect();
                let by: Dims = [out[1]].into_iter().chain(tap).collect();
                f([&from, &by, &out]);
            }
        }
    }
}

fn conv(op: &ConvOp<Dense>, meta: &Meta) -> Dense {
    let mut sums = Dense::zeros(meta);
    let mut add = |to: &[usize], a: Value, b: Value| {
        let sum = sums.at(to).float() + a.float() * b.float();
        sums.set(to, Value::Float(sum));
    };
    let shape = &meta.shape;
    match op {
        ConvOp::Forward { x, weight, options } => {
            taps(x.shape(), weight.shape(), shape, options, |[i, w, o]| {
                add(o, x.at(i), weight.at(w))
            });
        }
        ConvOp::Transpose {
            x, weight, options, ..
        } => {
            taps(shape, weight.shape(), x.shape(), options, |[i, w, o]| {
                add(i, x.at(o), weight.at(w))
            });
        }
        ConvOp::WeightGrad { x, grad, options, .. } => {
            taps(x.shape(), shape, grad.shape(), options, |[i, w, o]| {
                add(w, x.at(i), grad.at(o))
            });
        }
    }
    Dense::fill(meta, |i| sums.at(i))
}

/// The places of a window that lie in the input, for an output element.
fn window(out: &[usize], size: &[usize], options: &PoolOptions) -> Vec<Dims> {
    let place = |k: &Dims, axis: usize| {
        let padded = out[axis + 2] * options.stride[axis] + k[axis] * options.dilation[axis];
        padded
            .checked_sub(options.padding[axis].0)
            .filter(|&i| i < size[axis])
    };
    let places = |k: Dims| {
        (0..size.len())
            .map(|axis| place(&k, axis))
            .collect::<Option<Dims>>()
    };
    indices(&options.kernel).filter_map(places).collect()
}

fn pool(op: &PoolOp, x: &Dense, meta: &Meta) -> Dense {
    let full = |out: &[usize], place: &Dims| -> Dims { out[..2].iter().chain(place).copied().collect() };
    let elements = |members: &[Dims], options: &PoolOptions| {
        if options.count_include_pad {
            options.kernel.iter().product()
        } else {
            members.len()
        }
    };
    match op {
        PoolOp::MaxIndices(options) => Dense::fill(meta, |out| {
            let size = &x.shape()[2..];
            let members = window(out, size, options);
            let best = extreme(
                members.iter().map(|place| x.at(&full(out, place))),
                Ordering::Greater,
            );
            Value::Int(
                members[best]
                    .iter()
                    .zip(size)
                    .fold(0, |n, (i, size)| n * size + i) as i128,
            )
        }),
        PoolOp::Avg(options) => Dense::fill(meta, |out| {
            let members = window(out, &x.shape()[2..], options);
            let sum: f64 = members.iter().map(|place| x.at(&full(out, place)).float()).sum();
            Value::Float(sum / elements(&members, options) as f64)
        }),
        PoolOp::AvgGrad(options, size) => {
            let mut sums = Dense::zeros(meta);
            for out in indices(x.shape()) {
                let members = window(&out, size, options);
                let share = x.at(&out).float() / elements(&members, options) as f64;
                for place in &members {
                    let to = full(&out, place);
                    sums.set(&to, Value::Float(sums.at(&to).float() + share));
                }
            }
            Dense::fill(meta, |i| sums.at(i))
        }
    }
}

/// The lowering, in `f64`; of Fourier transforms, the sum, term by term.
fn fused(op: FusedOp<Dense>, meta: &Meta) -> Result<Dense> {
    match &op {
        FusedOp::Rfft { x } => {
            let n = *x.shape().last().unwrap();
            let full = spectrum(meta, x.shape(), -1.0, |j| (x.at(j).float(), 0.0));
            return Ok(Dense::fill(meta, |i| match (i[0], i[i.len() - 1]) {
                (1, k) if k == 0 || 2 * k == n => Value::Float(0.0),
                _ => full.at(i),
            }));
        }
        FusedOp::Irfft { re, im, n } => return Ok(real_numbers(meta, re, im, *n)),
        FusedOp::Cfft { re, im, inverse } => {
            let n = *meta.shape.last().unwrap() as f64;
            let (sign, scale) = if *inverse { (1.0, n) } else { (-1.0, 1.0) };
            return Ok(spectrum(meta, re.shape(), sign, |j| {
                (re.at(j).float() / scale, im.at(j).float() / scale)
            }));
        }
        _ => {}
    }
    let wide = |x: Dense| {
        if x.dtype().is_float() {
            x.cast(DType::F64)
        } else {
            x
        }
    };
    let Op::Fused(op) = Op::Fused(Box::new(op)).map(wide) else {
        unreachable!("`map` keeps the op")
    };
    Ok(lower::fused::<Reference>(*op)?.cast(meta.dtype))
}

/// Cosine and sine of `jk / n` of a turn.
fn turn(j: usize, k: usize, n: usize) -> (f64, f64) {
    let (sin, cos) = (TAU * (j * k % n) as f64 / n as f64).sin_cos();
    (cos, sin)
}

/// The index of the `j`th element of a row.
fn along(row: &[usize], j: usize) -> Dims {
    row.iter().copied().chain([j]).collect()
}

/// `Σ x[j] exp(± 2πi jk / n)` along the last axis of `shape`, both parts along the first of the result.
fn spectrum(meta: &Meta, shape: &Shape, sign: f64, x: impl Fn(&[usize]) -> (f64, f64)) -> Dense {
    let n = *shape.last().unwrap();
    Dense::fill(meta, |i| {
        let (&k, row) = i[1..].split_last().unwrap();
        let terms = (0..n).map(|j| {
            let ((re, im), (cos, sin)) = (x(&along(row, j)), turn(j, k, n));
            match i[0] {
                0 => re * cos - im * sign * sin,
                _ => re * sign * sin + im * cos,
            }
        });
        Value::Float(terms.sum())
    })
}

/// `Σ X[k] exp(2πi jk / n) / n` along the last axis, where the frequencies above `n / 2` are conjugates.
fn real_numbers(meta: &Meta, re: &Dense, im: &Dense, n: usize) -> Dense {
    Dense::fill(meta, |i| {
        let (&j, row) = i.split_last().unwrap();
        let terms = (0..=n / 2).map(|k| {
            let (place, (cos, sin)) = (along(row, k), turn(j, k, n));
            if k == 0 || 2 * k == n {
                re.at(&place).float() * cos
            } else {
                2.0 * (re.at(&place).float() * cos - im.at(&place).float() * sin)
            }
        });
        Value::Float(terms.sum::<f64>() / n as f64)
    })
}
