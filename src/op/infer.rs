use super::conv::windows;
use super::{
    Arg, ConvOp, ConvOptions, FusedOp, HasMeta, IndexOp, Meta, MoveOp, Op, PadMode, PoolOp, PoolOptions,
};
use crate::element::{DType, Scalar};
use crate::error::Error;
use crate::shape::{Dims, Shape};

/// The shape and element type of an op's result: the only place that validates and infers them.
///
/// # Errors
/// If the operands' ranks, shapes or element types, or the arguments, do not fit the op.
#[inline]
pub fn infer<T: HasMeta>(op: &Op<T>) -> Result<Meta, Error> {
    // The most frequent ops on operands that fit are inferred in the caller. The result is no larger than an operand.
    match op {
        Op::Unary(op, x) if op.takes(x.dtype()) => Ok(Meta {
            shape: x.shape().clone(),
            dtype: op.output(x.dtype()),
        }),
        Op::Binary(op, Arg::Tensor(a), Arg::Tensor(b))
            if a.dtype() == b.dtype() && op.takes(a.dtype()) && a.shape() == b.shape() =>
        {
            Ok(a.meta())
        }
        _ => infer_any(op),
    }
}

fn infer_any<T: HasMeta>(op: &Op<T>) -> Result<Meta, Error> {
    let name = op.name();
    let (shape, dtype) = match op {
        Op::Unary(op, x) => {
            takes(name, x.dtype(), |dtype| op.takes(dtype))?;
            (x.shape().clone(), op.output(x.dtype()))
        }
        Op::Binary(op, a, b) => {
            let meta = pair(name, a, b)?;
            takes(name, meta.dtype, |dtype| op.takes(dtype))?;
            (meta.shape, meta.dtype)
        }
        Op::Compare(op, a, b) => {
            let meta = pair(name, a, b)?;
            takes(name, meta.dtype, |dtype| op.takes(dtype))?;
            (meta.shape, DType::Bool)
        }
        Op::Reduce(op, x, axes) => {
            takes(name, x.dtype(), |dtype| op.takes(dtype))?;
            let mut shape = x.shape().clone();
            distinct_axes(name, axes, shape.rank())?;
            if op.is_arg() && axes.len() != 1 {
                return Err(Error::argument(
                    name,
                    format!("takes one axis, got {axes:?}; `reshape` joins axes"),
                ));
            }
            for &axis in axes {
                if op.is_arg() && shape[axis] > i32::MAX as usize {
                    return Err(Error::shape(
                        name,
                        &[&shape],
                        "the axis is longer than an i32 index reaches",
                    ));
                }
                if op.needs_elements() && shape[axis] == 0 {
                    return Err(Error::shape(
                        name,
                        &[&shape],
                        format!("axis {axis} is empty: there is no result"),
                    ));
                }
                shape = shape.with(axis, 1);
            }
            (shape, op.output(x.dtype()))
        }
        Op::Scan(_, x, axis) => {
            takes(name, x.dtype(), is_number)?;
            in_rank(name, *axis, x.shape().rank())?;
            (x.shape().clone(), x.dtype())
        }
        Op::Move(op, x) => (movement(name, op, x)?, x.dtype()),
        Op::Cat(xs, axis) => cat(name, xs, *axis)?,
        Op::Index(op) => index(name, op)?,
        Op::Matmul(a, b) => {
            same_dtype(name, a, b)?;
            takes(name, a.dtype(), is_number)?;
            (matmul(name, a.shape(), b.shape())?, a.dtype())
        }
        Op::Conv(op) => conv(name, op)?,
        Op::Pool(op, x) => {
            takes(name, x.dtype(), DType::is_float)?;
            pool(name, op, x)?
        }
        Op::Cast(dtype, x) => (x.shape().clone(), *dtype),
        Op::Fused(op) => fused(name, op)?,
    };
    checked(name, shape, dtype)
}

/// A result whose size in bytes fits the address space.
pub(crate) fn checked(name: &'static str, shape: Shape, dtype: DType) -> Result<Meta, Error> {
    match shape.checked_elements().and_then(|n| n.checked_mul(dtype.size())) {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(Meta { shape, dtype }),
        _ => Err(Error::shape(
            name,
            &[&shape],
            "the result exceeds the address space",
        )),
    }
}

fn takes(name: &'static str, dtype: DType, takes: impl Fn(DType) -> bool) -> Result<(), Error> {
    if takes(dtype) {
        return Ok(());
    }
    let expected = match [DType::F32, DType::I32, DType::Bool].map(takes) {
        [true, true, false] => "a number type",
        [true, false, false] => "a float type",
        [false, true, false] => "an integer type",
        [false, false, true] => "bool",
        _ => "another element type",
    };
    Err(Error::dtype(name, dtype, expected))
}

fn is_number(dtype: DType) -> bool {
    dtype != DType::Bool
}

fn float<T: HasMeta>(name: &'static str, x: &T) -> Result<(), Error> {
    if x.dtype().is_float() {
        Ok(())
    } else {
        Err(Error::dtype(name, x.dtype(), "a float type"))
    }
}

fn same_dtype<T: HasMeta>(name: &'static str, a: &T, b: &T) -> Result<(), Error> {
    if a.dtype() == b.dtype() {
        return Ok(());
    }
    Err(Error::dtype(
        name,
        b.dtype(),
        format!("{}, as the other operand", a.dtype()),
    ))
}

fn int_index<T: HasMeta>(name: &'static str, index: &T) -> Result<(), Error> {
    if index.dtype().is_int() {
        Ok(())
    } else {
        Err(Error::dtype(name, index.dtype(), "an integer index"))
    }
}

pub(crate) fn in_rank(name: &'static str, axis: usize, rank: usize) -> Result<(), Error> {
    if axis < rank {
        return Ok(());
    }
    // The typed methods leave a negative axis that is out of range as it is.
    Err(Error::argument(
        name,
        format!(
            "axis {} is out of range for a tensor of rank {rank}",
            axis as isize
        ),
    ))
}

pub(crate) fn distinct_axes(name: &'static str, axes: &[usize], rank: usize) -> Result<(), Error> {
    for (i, &axis) in axes.iter().enumerate() {
        in_rank(name, axis, rank)?;
        if axes[..i].contains(&axis) {
            return Err(Error::argument(
                name,
                format!("axis {axis} stands twice in {axes:?}"),
            ));
        }
    }
    Ok(())
}

fn broadcast(name: &'static str, a: &Shape, b: &Shape) -> Result<Shape, Error> {
    if a.rank() != b.rank() {
        return Err(Error::rank(
            name,
            b.rank(),
            format!("rank {}, as the other operand (`unsqueeze` adds axes)", a.rank()),
        ));
    }
    a.broadcast(b).ok_or_else(|| {
        Error::shape(
            name,
            &[a, b],
            "the sizes of an axis must be equal, or one of them 1",
        )
    })
}

fn fits(name: &'static str, scalar: Scalar, dtype: DType) -> Result<(), Error> {
    if scalar.fits(dtype) {
        return Ok(());
    }
    Err(Error::argument(
        name,
        format!("the number {scalar} is no operand for {dtype} elements; `cast` the tensor first"),
    ))
}

fn pair<T: HasMeta>(name: &'static str, a: &Arg<T>, b: &Arg<T>) -> Result<Meta, Error> {
    match (a, b) {
        (Arg::Tensor(a), Arg::Tensor(b)) => {
            same_dtype(name, a, b)?;
            Ok(Meta {
                shape: broadcast(name, a.shape(), b.shape())?,
                dtype: a.dtype(),
            })
        }
        (Arg::Tensor(x), &Arg::Scalar(s)) | (&Arg::Scalar(s), Arg::Tensor(x)) => {
            fits(name, s, x.dtype())?;
            Ok(x.meta())
        }
        (Arg::Scalar(_), Arg::Scalar(_)) => Err(Error::argument(name, "one operand must be a tensor")),
    }
}

fn movement<T: HasMeta>(name: &'static str, op: &MoveOp, x: &T) -> Result<Shape, Error> {
    let shape = x.shape();
    let per_axis = |n: usize| {
        if n == shape.rank() {
            return Ok(());
        }
        Err(Error::argument(
            name,
            format!("{n} entries for a tensor of rank {}", shape.rank()),
        ))
    };
    match op {
        MoveOp::Reshape(to) => {
            if to.checked_elements() != shape.checked_elements() {
                return Err(Error::shape(name, &[shape, to], "the numbers of elements differ"));
            }
            Ok(to.clone())
        }
        MoveOp::Permute(axes) => {
            per_axis(axes.len())?;
            distinct_axes(name, axes, shape.rank())?;
            Ok(axes.iter().map(|&axis| shape[axis]).collect())
        }
        MoveOp::Expand(to) => {
            if to.rank() != shape.rank() {
                return Err(Error::rank(
                    name,
                    to.rank(),
                    format!("rank {}; `unsqueeze` adds axes", shape.rank()),
                ));
            }
            if shape
                .iter()
                .zip(to.iter())
                .any(|(&from, &to)| from != to && from != 1)
            {
                return Err(Error::shape(name, &[shape, to], "only axes of size 1 stretch"));
            }
            Ok(to.clone())
        }
        MoveOp::Slice(ranges) => {
            per_axis(ranges.len())?;
            for (axis, range) in ranges.iter().enumerate() {
                if range.step == 0 {
                    return Err(Error::argument(name, format!("the step of axis {axis} is 0")));
                }
                if range.start > range.end || range.end > shape[axis] {
                    let message = format!(
                        "{}..{} of axis {axis} of size {}",
                        range.start, range.end, shape[axis]
                    );
                    return Err(Error::argument(name, message));
                }
            }
            Ok(ranges.iter().map(|range| range.len()).collect())
        }
        MoveOp::Flip(axes) => {
            distinct_axes(name, axes, shape.rank())?;
            Ok(shape.clone())
        }
        MoveOp::Pad(pads, mode) => {
            per_axis(pads.len())?;
            if let PadMode::Constant(value) = *mode {
                fits(name, value, x.dtype())?;
            }
            let padded = |(axis, &(before, after)): (usize, &(usize, usize))| {
                let size = shape[axis];
                let most = before.max(after);
                let possible = match mode {
                    PadMode::Constant(_) => true,
                    _ if most == 0 => true,
                    PadMode::Reflect => most < size,
                    PadMode::Replicate => size > 0,
                    PadMode::Circular => most <= size,
                };
                if !possible {
                    let message =
                        format!("axis {axis} has too few elements to pad by ({before}, {after}) from");
                    return Err(Error::shape(name, &[shape], message));
                }
                size.checked_add(before)
                    .and_then(|n| n.checked_add(after))
                    .ok_or_else(|| Error::argument(name, "the result exceeds the address space"))
            };
            pads.iter().enumerate().map(padded).collect()
        }
        MoveOp::Repeat(times) => {
            per_axis(times.len())?;
            let repeated = |(&n, &times): (&usize, &usize)| {
                n.checked_mul(times)
                    .ok_or_else(|| Error::argument(name, "the result exceeds the address space"))
            };
            shape.iter().zip(times).map(repeated).collect()
        }
    }
}

fn cat<T: HasMeta>(name: &'static str, xs: &[T], axis: usize) -> Result<(Shape, DType), Error> {
    let Some(first) = xs.first() else {
        return Err(Error::argument(name, "needs at least one tensor"));
    };
    in_rank(name, axis, first.shape().rank())?;
    let mut total = 0usize;
    for x in xs {
        same_dtype(name, first, x)?;
        if x.shape().rank() != first.shape().rank() {
            return Err(Error::rank(
                name,
                x.shape().rank(),
                format!("rank {}, as the first", first.shape().rank()),
            ));
        }
        if x.shape().clone().with(axis, 0) != first.shape().clone().with(axis, 0) {
            let message = format!("the sizes may differ along axis {axis} only");
            return Err(Error::shape(name, &[first.shape(), x.shape()], message));
        }
        total = total
            .checked_add(x.shape()[axis])
            .ok_or_else(|| Error::argument(name, "the result exceeds the address space"))?;
    }
    Ok((first.shape().clone().with(axis, total), first.dtype()))
}

fn index<T: HasMeta>(name: &'static str, op: &IndexOp<T>) -> Result<(Shape, DType), Error> {
    let along = |x: &T, index: &T, axis: usize| {
        int_index(name, index)?;
        let (x, index) = (x.shape(), index.shape());
        if x.rank() != index.rank() {
            return Err(Error::rank(
                name,
                index.rank(),
                format!("an index of rank {}", x.rank()),
            ));
        }
        in_rank(name, axis, x.rank())?;
        if (0..x.rank()).any(|a| a != axis && index[a] > x[a]) {
            return Err(Error::shape(
                name,
                &[x, index],
                format!("the index may be longer along axis {axis} only"),
            ));
        }
        Ok(())
    };
    let whole = |x: &T, index: &T, axis: usize| {
        int_index(name, index)?;
        if index.shape().rank() != 1 {
            return Err(Error::rank(name, index.shape().rank(), "an index of rank 1"));
        }
        in_rank(name, axis, x.shape().rank())?;
        Ok(x.shape().clone().with(axis, index.shape()[0]))
    };
    let expect = |given: &T, expected: &Shape| {
        if given.shape() == expected {
            return Ok(());
        }
        Err(Error::shape(
            name,
            &[given.shape()],
            format!("the values to write must have shape {expected}"),
        ))
    };
    let writable = |x: &T, src: &T, mode: super::ScatterMode| {
        same_dtype(name, x, src)?;
        takes(name, x.dtype(), |dtype| {
            is_number(dtype) || mode == super::ScatterMode::Set
        })
    };
    match op {
        IndexOp::Gather { x, index, axis } => {
            along(x, index, *axis)?;
            Ok((index.shape().clone(), x.dtype()))
        }
        IndexOp::Scatter {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            along(x, index, *axis)?;
            writable(x, src, *mode)?;
            expect(src, index.shape())?;
            Ok((x.shape().clone(), x.dtype()))
        }
        IndexOp::Select { x, index, axis } => Ok((whole(x, index, *axis)?, x.dtype())),
        IndexOp::SelectAssign {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            let expected = whole(x, index, *axis)?;
            writable(x, src, *mode)?;
            expect(src, &expected)?;
            Ok((x.shape().clone(), x.dtype()))
        }
        IndexOp::Where {
            cond,
            on_true,
            on_false,
        } => {
            if cond.dtype() != DType::Bool {
                return Err(Error::dtype(name, cond.dtype(), "a bool condition"));
            }
            let values = pair(name, on_true, on_false)?;
            Ok((broadcast(name, cond.shape(), &values.shape)?, values.dtype))
        }
        IndexOp::SliceAssign { x, src, ranges } => {
            same_dtype(name, x, src)?;
            let expected = movement(name, &MoveOp::Slice(ranges.clone()), x)?;
            expect(src, &expected)?;
            Ok((x.shape().clone(), x.dtype()))
        }
        IndexOp::ArgSort { x, axis, .. } => {
            sortable(name, x, *axis)?;
            Ok((x.shape().clone(), DType::I32))
        }
        IndexOp::TopK { x, axis, k, .. } => {
            sortable(name, x, *axis)?;
            if *k > x.shape()[*axis] {
                return Err(Error::shape(
                    name,
                    &[x.shape()],
                    format!("axis {axis} has fewer than {k} elements"),
                ));
            }
            Ok((x.shape().clone().with(*axis, *k), DType::I32))
        }
    }
}

fn sortable<T: HasMeta>(name: &'static str, x: &T, axis: usize) -> Result<(), Error> {
    takes(name, x.dtype(), is_number)?;
    in_rank(name, axis, x.shape().rank())?;
    if x.shape()[axis] > i32::MAX as usize {
        return Err(Error::shape(
            name,
            &[x.shape()],
            "the axis is longer than an i32 index reaches",
        ));
    }
    Ok(())
}

fn matmul(name: &'static str, a: &Shape, b: &Shape) -> Result<Shape, Error> {
    let rank = a.rank();
    if rank < 2 {
        return Err(Error::rank(name, rank, "rank 2 or more"));
    }
    if b.rank() != rank {
        return Err(Error::rank(
            name,
            b.rank(),
            format!("rank {rank}, as the other operand (`unsqueeze` adds axes)"),
        ));
    }
    if a[rank - 1] != b[rank - 2] {
        return Err(Error::shape(
            name,
            &[a, b],
            "the columns of the first must be as many as the rows of the second",
        ));
    }
    let (batch_a, batch_b) = (Shape::from(&a[..rank - 2]), Shape::from(&b[..rank - 2]));
    let batch = batch_a.broadcast(&batch_b).ok_or_else(|| {
        Error::shape(
            name,
            &[a, b],
            "the sizes of a batch axis must be equal, or one of them 1",
        )
    })?;
    Ok(batch.iter().copied().chain([a[rank - 2], b[rank - 1]]).collect())
}

fn conv<T: HasMeta>(name: &'static str, op: &ConvOp<T>) -> Result<(Shape, DType), Error> {
    let (ConvOp::Forward {
        x,
        weight: y,
        options,
    }
    | ConvOp::Transpose {
        x,
        weight: y,
        options,
        ..
    }
    | ConvOp::WeightGrad {
        x, grad: y, options, ..
    }) = op;
    float(name, x)?;
    same_dtype(name, x, y)?;
    let (xs, ys) = (x.shape(), y.shape());
    if xs.rank() < 3 || ys.rank() != xs.rank() {
        let expected = "batch, channels and one or more spatial axes, of both operands";
        return Err(Error::rank(
            name,
            if xs.rank() < 3 { xs.rank() } else { ys.rank() },
            expected,
        ));
    }
    let axes = xs.rank() - 2;
    per_spatial_axis(
        name,
        axes,
        &[
            options.stride.len(),
            options.padding.len(),
            options.dilation.len(),
        ],
    )?;
    nonzero(name, "stride", &options.stride)?;
    nonzero(name, "dilation", &options.dilation)?;
    nonzero(name, "groups", &[options.groups])?;
    let groups = options.groups;
    let output = |size: &[usize], kernel: &[usize]| spatial(name, size, kernel, options);
    let shape = match op {
        ConvOp::Forward { .. } => {
            if xs[1] % groups != 0 || ys[0] % groups != 0 || ys[1] != xs[1] / groups {
                let message =
                    format!("weights are [out, in / {groups} groups, kernel…], both divisible by groups");
                return Err(Error::shape(name, &[xs, ys], message));
            }
            [xs[0], ys[0]]
                .into_iter()
                .chain(output(&xs[2..], &ys[2..])?)
                .collect()
        }
        ConvOp::Transpose { size, .. } => {
            if xs[1] != ys[0] || ys[0] % groups != 0 {
                let message =
                    format!("weights are [in, out / {groups} groups, kernel…], in divisible by groups");
                return Err(Error::shape(name, &[xs, ys], message));
            }
            per_spatial_axis(name, axes, &[size.len()])?;
            if output(size, &ys[2..])?[..] != xs[2..] {
                let message =
                    format!("no convolution with this kernel takes the size {size:?} to the input's");
                return Err(Error::shape(name, &[xs, ys], message));
            }
            let channels = ys[1]
                .checked_mul(groups)
                .ok_or_else(|| Error::argument(name, "too many groups"))?;
            [xs[0], channels]
                .into_iter()
                .chain(size.iter().copied())
                .collect()
        }
        ConvOp::WeightGrad { kernel, .. } => {
            if xs[0] != ys[0] || xs[1] % groups != 0 || ys[1] % groups != 0 {
                let message = "the batches must be equal, and the channels divisible by groups";
                return Err(Error::shape(name, &[xs, ys], message));
            }
            per_spatial_axis(name, axes, &[kernel.len()])?;
            if output(&xs[2..], kernel)?[..] != ys[2..] {
                let message =
                    format!("no convolution with kernel {kernel:?} takes the first size to the second");
                return Err(Error::shape(name, &[xs, ys], message));
            }
            [ys[1], xs[1] / groups]
                .into_iter()
                .chain(kernel.iter().copied())
                .collect()
        }
    };
    Ok((shape, x.dtype()))
}

fn spatial(
    name: &'static str,
    size: &[usize],
    kernel: &[usize],
    options: &ConvOptions,
) -> Result<Dims, Error> {
    let one = |i: usize| {
        windows(
            size[i],
            kernel[i],
            options.stride[i],
            options.padding[i],
            options.dilation[i],
        )
        .ok_or_else(|| {
            let message = format!("the kernel {kernel:?} is empty or larger than the padded input {size:?}");
            Error::argument(name, message)
        })
    };
    (0..size.len()).map(one).collect()
}

fn pool<T: HasMeta>(name: &'static str, op: &PoolOp, x: &T) -> Result<(Shape, DType), Error> {
    let shape = x.shape();
    let options = op.options();
    if shape.rank() < 3 {
        return Err(Error::rank(
            name,
            shape.rank(),
            "batch, channels and one or more spatial axes",
        ));
    }
    let axes = shape.rank() - 2;
    let lens = [
        options.kernel.len(),
        options.stride.len(),
        options.padding.len(),
        options.dilation.len(),
    ];
    per_spatial_axis(name, axes, &lens)?;
    nonzero(name, "kernel", &options.kernel)?;
    nonzero(name, "stride", &options.stride)?;
    nonzero(name, "dilation", &options.dilation)?;
    let with_spatial = |size: &[usize]| shape[..2].iter().chain(size).copied().collect::<Shape>();
    match op {
        PoolOp::MaxIndices(_) => {
            let size = &shape[2..];
            if size
                .iter()
                .try_fold(1usize, |n, &d| n.checked_mul(d))
                .is_none_or(|n| n > i32::MAX as usize)
            {
                return Err(Error::shape(
                    name,
                    &[shape],
                    "the plane is larger than an i32 index reaches",
                ));
            }
            let out = pooled(name, size, options)?;
            if let Some(axis) = (0..axes).find(|&i| some_window_is_padding(size[i], out[i], options, i)) {
                let message =
                    format!("a window lies in the padding of spatial axis {axis} alone: it has no maximum");
                return Err(Error::argument(name, message));
            }
            Ok((with_spatial(&out), DType::I32))
        }
        PoolOp::Avg(_) => Ok((with_spatial(&pooled(name, &shape[2..], options)?), x.dtype())),
        PoolOp::AvgGrad(_, size) => {
            per_spatial_axis(name, axes, &[size.len()])?;
            if pooled(name, size, options)?[..] != shape[2..] {
                let message = format!("pooling the size {size:?} does not give the gradient's");
                return Err(Error::shape(name, &[shape], message));
            }
            Ok((with_spatial(size), x.dtype()))
        }
    }
}

fn pooled(name: &'static str, size: &[usize], options: &PoolOptions) -> Result<Dims, Error> {
    let PoolOptions {
        kernel,
        stride,
        padding,
        dilation,
        ..
    } = options;
    let one = |i: usize| {
        windows(size[i], kernel[i], stride[i], padding[i], dilation[i]).ok_or_else(|| {
            Error::argument(
                name,
                format!("the window {kernel:?} is larger than the padded input {size:?}"),
            )
        })
    };
    (0..size.len()).map(one).collect()
}

fn some_window_is_padding(size: usize, out: usize, options: &PoolOptions, axis: usize) -> bool {
    let (before, _) = options.padding[axis];
    (0..out).any(|o| {
        let start = o * options.stride[axis];
        // The first element of the window that lies behind the leading padding.
        let k = before.saturating_sub(start).div_ceil(options.dilation[axis]);
        k >= options.kernel[axis] || start + k * options.dilation[axis] - before >= size
    })
}

fn per_spatial_axis(name: &'static str, axes: usize, lens: &[usize]) -> Result<(), Error> {
    match lens.iter().find(|&&len| len != axes) {
        Some(len) => Err(Error::argument(
            name,
            format!("{len} entries in an option for {axes} spatial axes"),
        )),
        None => Ok(()),
    }
}

fn nonzero(name: &'static str, option: &str, values: &[usize]) -> Result<(), Error> {
    if values.contains(&0) {
        Err(Error::argument(name, format!("{option} is 0")))
    } else {
        Ok(())
    }
}

fn fused<T: HasMeta>(name: &'static str, op: &FusedOp<T>) -> Result<(Shape, DType), Error> {
    match op {
        FusedOp::Softmax { x, axis } | FusedOp::LogSoftmax { x, axis } => {
            float(name, x)?;
            in_rank(name, *axis, x.shape().rank())?;
            Ok((x.shape().clone(), x.dtype()))
        }
        FusedOp::Gelu { x, .. } | FusedOp::Silu { x } => {
            float(name, x)?;
            Ok((x.shape().clone(), x.dtype()))
        }
        FusedOp::LayerNorm { x, weight, bias, eps } => {
            float(name, x)?;
            let Some(&width) = x.shape().last() else {
                return Err(Error::rank(name, 0, "rank 1 or more"));
            };
            for p in weight.iter().chain(bias) {
                same_dtype(name, x, p)?;
                if p.shape()[..] != [width] {
                    let message = format!("weight and bias must have shape [{width}]");
                    return Err(Error::shape(name, &[x.shape(), p.shape()], message));
                }
            }
            if eps.is_nan() || *eps < 0.0 {
                return Err(Error::argument(
                    name,
                    format!("eps is {eps}: it must not be negative"),
                ));
            }
            Ok((x.shape().clone(), x.dtype()))
        }
        FusedOp::Attention {
            q, k, v, mask, bias, ..
        } => {
            float(name, q)?;
            same_dtype(name, q, k)?;
            same_dtype(name, q, v)?;
            let rank = q.shape().rank();
            if rank < 2 || k.shape().rank() != rank || v.shape().rank() != rank {
                return Err(Error::rank(name, rank, "q, k and v of one rank, 2 or more"));
            }
            let transposed: Shape = k.shape()[..rank - 2]
                .iter()
                .chain([&k.shape()[rank - 1], &k.shape()[rank - 2]])
                .copied()
                .collect();
            let scores = matmul(name, q.shape(), &transposed)?;
            if let Some(mask) = mask {
                if mask.dtype() != DType::Bool {
                    return Err(Error::dtype(name, mask.dtype(), "a bool mask"));
                }
                if broadcast(name, &scores, mask.shape())? != scores {
                    let message = format!("the mask must stretch to {scores}");
                    return Err(Error::shape(name, &[mask.shape()], message));
                }
            }
            if let Some(bias) = bias {
                same_dtype(name, q, bias)?;
                if broadcast(name, &scores, bias.shape())? != scores {
                    let message = format!("the bias must stretch to {scores}");
                    return Err(Error::shape(name, &[bias.shape()], message));
                }
            }
            Ok((matmul(name, &scores, v.shape())?, q.dtype()))
        }
        FusedOp::CrossEntropy { logits, targets } => {
            float(name, logits)?;
            int_index(name, targets)?;
            if logits.shape().rank() != 2 {
                return Err(Error::rank(name, logits.shape().rank(), "logits of rank 2"));
            }
            if targets.shape()[..] != logits.shape()[..1] {
                let message = "targets must hold one class for each row of the logits";
                return Err(Error::shape(name, &[logits.shape(), targets.shape()], message));
            }
            Ok((targets.shape().clone(), logits.dtype()))
        }
        FusedOp::Rfft { x } => {
            let n = transform_length(name, x)?;
            Ok((two_parts(x.shape(), n / 2 + 1), x.dtype()))
        }
        FusedOp::Irfft { re, im, n } => {
            let kept = transform_length(name, re)?;
            same_parts(name, re, im)?;
            if *n == 0 || n / 2 + 1 != kept {
                let most = n / 2;
                let message = format!("{n} real numbers have {} frequencies, 0 to {most}", most + 1);
                return Err(Error::shape(name, &[re.shape()], message));
            }
            Ok((re.shape().clone().with(re.shape().rank() - 1, *n), re.dtype()))
        }
        FusedOp::Cfft { re, im, .. } => {
            let n = transform_length(name, re)?;
            same_parts(name, re, im)?;
            Ok((two_parts(re.shape(), n), re.dtype()))
        }
    }
}

/// The size of the last axis, of floats.
fn transform_length<T: HasMeta>(name: &'static str, x: &T) -> Result<usize, Error> {
    float(name, x)?;
    match x.shape().last() {
        None => Err(Error::rank(name, 0, "rank 1 or more")),
        Some(0) => {
            let message = "the last axis is empty; a transform takes one number or more";
            Err(Error::shape(name, &[x.shape()], message))
        }
        Some(&n) => Ok(n),
    }
}

fn same_parts<T: HasMeta>(name: &'static str, re: &T, im: &T) -> Result<(), Error> {
    same_dtype(name, re, im)?;
    if re.shape() == im.shape() {
        return Ok(());
    }
    let message = "the real and the imaginary part must have one shape";
    Err(Error::shape(name, &[re.shape(), im.shape()], message))
}

/// The real and the imaginary parts of rows of `n` numbers each.
fn two_parts(rows: &Shape, n: usize) -> Shape {
    let last = rows.rank() - 1;
    [2].iter().chain(&rows[..last]).chain([&n]).copied().collect()
}
