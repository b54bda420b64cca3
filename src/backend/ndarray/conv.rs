//! Convolutions: windows laid out as the columns of a matrix, and matrix products.

use ndarray::{Array2, ArrayD, ArrayRef, ArrayViewD, ArrayViewMutD, Axis, CowArray, Ix2, IxDyn, Slice, s};

use super::number::{Real, with_real};
use super::storage::{NdArrayTensor, Values, dims, owned};
use super::window::{Windows, take, take_mut};
use crate::element::DType;
use crate::error::Error;
use crate::op::{ConvOp, ConvOptions, HasMeta, Meta};

/// An op whose result has at least one element.
pub(super) fn conv(op: &ConvOp<NdArrayTensor>, meta: &Meta) -> Result<Values, Error> {
    with_real!(meta.dtype, E => conv_real::<E>(op, meta))
}

fn conv_real<E: Real>(op: &ConvOp<NdArrayTensor>, meta: &Meta) -> Result<Values, Error> {
    let (ConvOp::Forward { x: a, weight: b, .. }
    | ConvOp::Transpose { x: a, weight: b, .. }
    | ConvOp::WeightGrad { x: a, grad: b, .. }) = op;
    let mut result = ArrayD::from_elem(dims(&meta.shape), E::ZERO);
    if a.is_empty() || b.is_empty() {
        return Ok(owned(result));
    }
    let (a_shape, b_shape) = (a.shape(), b.shape());
    let (a, b) = (a.view::<E>(), b.view::<E>());
    match op {
        ConvOp::Forward { options, .. } => {
            let layout = Layout {
                windows: windows(&a_shape[2..], &meta.shape[2..], &b_shape[2..], options),
                channels: a_shape[1],
                outputs: b_shape[0],
                groups: options.groups,
            };
            let mut columns = layout.columns(op.name())?;
            let weight = matrix(&b, layout.outputs);
            for (x, mut y) in a.outer_iter().zip(result.axis_iter_mut(Axis(0))) {
                layout.gather(x, &mut columns);
                let laid = matrix(&columns, layout.rows());
                let mut product = Array2::zeros((layout.outputs, layout.positions()));
                for group in 0..layout.groups {
                    let (of_columns, of_outputs) = layout.group(group);
                    E::add_product(
                        weight.slice(s![of_outputs, ..]),
                        laid.slice(s![of_columns, ..]),
                        product.slice_mut(s![of_outputs, ..]),
                    );
                }
                let shape = y.raw_dim();
                y.assign(
                    &product
                        .into_shape_with_order(shape)
                        .expect("a new array is in order"),
                );
            }
        }
        ConvOp::Transpose { options, size, .. } => {
            let layout = Layout {
                windows: windows(size, &a_shape[2..], &b_shape[2..], options),
                channels: meta.shape[1],
                outputs: b_shape[0],
                groups: options.groups,
            };
            let mut columns = layout.columns(op.name())?;
            let weight = matrix(&b, layout.outputs);
            for (x, y) in a.outer_iter().zip(result.axis_iter_mut(Axis(0))) {
                let x = matrix(&x, layout.outputs);
                columns.fill(E::ZERO);
                let mut product = columns
                    .view_mut()
                    .into_shape_with_order((layout.rows(), layout.positions()))
                    .expect("a new array is in order");
                for group in 0..layout.groups {
                    let (of_columns, of_outputs) = layout.group(group);
                    E::add_product(
                        weight.slice(s![of_outputs, ..]).reversed_axes(),
                        x.slice(s![of_outputs, ..]),
                        product.slice_mut(s![of_columns, ..]),
                    );
                }
                layout.scatter(&columns, y);
            }
        }
        ConvOp::WeightGrad { options, kernel, .. } => {
            let layout = Layout {
                windows: windows(&a_shape[2..], &b_shape[2..], kernel, options),
                channels: a_shape[1],
                outputs: b_shape[1],
                groups: options.groups,
            };
            let mut columns = layout.columns(op.name())?;
            let mut sum = result
                .view_mut()
                .into_shape_with_order((layout.outputs, layout.rows() / layout.groups))
                .expect("a new array is in order");
            for (x, grad) in a.outer_iter().zip(b.outer_iter()) {
                layout.gather(x, &mut columns);
                let laid = matrix(&columns, layout.rows());
                let grad = matrix(&grad, layout.outputs);
                for group in 0..layout.groups {
                    let (of_columns, of_outputs) = layout.group(group);
                    E::add_product(
                        grad.slice(s![of_outputs, ..]),
                        laid.slice(s![of_columns, ..]).reversed_axes(),
                        sum.slice_mut(s![of_outputs, ..]),
                    );
                }
            }
        }
    }
    Ok(owned(result))
}

/// A convolution of one element of the batch as a product `[outputs, rows / groups] · [rows / groups, positions]` for
/// each group, where a column holds what a window sees: `rows` are channels times places of the kernel.
struct Layout<'a> {
    windows: Windows<'a>,
    channels: usize,
    outputs: usize,
    groups: usize,
}

fn windows<'a>(
    size: &'a [usize],
    output: &'a [usize],
    kernel: &'a [usize],
    options: &'a ConvOptions,
) -> Windows<'a> {
    Windows {
        size,
        output,
        kernel,
        stride: &options.stride,
        padding: &options.padding,
        dilation: &options.dilation,
    }
}

impl Layout<'_> {
    fn rows(&self) -> usize {
        self.channels * self.windows.kernel.iter().product::<usize>()
    }

    fn positions(&self) -> usize {
        self.windows.output.iter().product()
    }

    /// The rows and the outputs of a group.
    fn group(&self, group: usize) -> (Slice, Slice) {
        let part = |len: usize| {
            let len = len / self.groups;
            Slice::from(group * len..(group + 1) * len)
        };
        (part(self.rows()), part(self.outputs))
    }

    /// Zeros for the columns, as `[channels, kernel, output…]`.
    fn columns<E: Real>(&self, name: &'static str) -> Result<ArrayD<E>, Error> {
        let Windows { kernel, output, .. } = &self.windows;
        let factors = [&[self.channels, size_of::<E>()], *kernel, *output];
        let bytes = factors
            .into_iter()
            .flatten()
            .try_fold(1usize, |n, &size| n.checked_mul(size));
        if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(Error::argument(
                name,
                "the windows together exceed the address space",
            ));
        }
        let shape = [&[self.channels, kernel.iter().product()], *output].concat();
        Ok(ArrayD::from_elem(shape, E::ZERO))
    }

    /// Lays out what each window sees of `x`, which is `[channels, size…]`. Padding keeps the zeros it was made with.
    fn gather<E: Real>(&self, x: ArrayViewD<E>, columns: &mut ArrayD<E>) {
        for tap in self.windows.taps() {
            let column = columns.index_axis_mut(Axis(1), tap.place);
            take_mut(column, &tap.output).assign(&take(x.view(), &tap.input));
        }
    }

    /// The adjoint of `gather`: adds to each element of `x` what the windows that see it hold for it.
    fn scatter<E: Real>(&self, columns: &ArrayD<E>, mut x: ArrayViewMutD<E>) {
        for tap in self.windows.taps() {
            let column = columns.index_axis(Axis(1), tap.place);
            take_mut(x.view_mut(), &tap.input).zip_mut_with(&take(column, &tap.output), |x, &v| *x = *x + v);
        }
    }
}

/// The array as a matrix of so many rows.
fn matrix<'a, E: Real>(x: &'a ArrayRef<E, IxDyn>, rows: usize) -> CowArray<'a, E, Ix2> {
    x.to_shape((rows, x.len() / rows))
        .expect("the rows divide the array")
}
