//! Pools.

use ndarray::{Array1, ArrayD, Zip};

use super::number::{Real, with_real};
use super::storage::{NdArrayTensor, Values, dims, owned};
use super::window::{Windows, take, take_mut};
use crate::backend::extremes::Extremes;
use crate::element::DType;
use crate::op::{HasMeta, Meta, PoolOp, PoolOptions};

/// A pool with at least one element.
pub(super) fn pool(op: &PoolOp, x: &NdArrayTensor, meta: &Meta) -> Values {
    let options = op.options();
    let (small, large) = match op {
        PoolOp::AvgGrad(..) => (x.shape(), &meta.shape),
        PoolOp::MaxIndices(_) | PoolOp::Avg(_) => (&meta.shape, x.shape()),
    };
    let windows = Windows {
        size: &large[2..],
        output: &small[2..],
        kernel: &options.kernel,
        stride: &options.stride,
        padding: &options.padding,
        dilation: &options.dilation,
    };
    with_real!(x.dtype(), E => match op {
        PoolOp::MaxIndices(_) => max_indices::<E>(x, &windows, meta),
        PoolOp::Avg(options) => avg::<E>(x, &windows, options, meta),
        PoolOp::AvgGrad(options, _) => avg_grad::<E>(x, &windows, options, meta),
    })
}

fn max_indices<E: Real>(x: &NdArrayTensor, windows: &Windows, meta: &Meta) -> Values {
    let x = x.view::<E>();
    let plane = windows.size.iter().product::<usize>();
    let places = Array1::from_iter(0..plane as i32)
        .into_shape_with_order(windows.size)
        .expect("as many places as elements");
    let mut greatest = ArrayD::from_elem(dims(&meta.shape), E::LEAST);
    let mut indices = ArrayD::from_elem(dims(&meta.shape), -1);
    for tap in windows.taps() {
        let indices = take_mut(indices.view_mut(), &tap.output);
        let places = take(places.view(), &tap.input);
        let places = places
            .broadcast(indices.raw_dim())
            .expect("one place per element");
        Zip::from(indices)
            .and(take_mut(greatest.view_mut(), &tap.output))
            .and(take(x.view(), &tap.input))
            .and(places)
            .for_each(|index, greatest, &v, &place| {
                let nan = Extremes::is_nan(v) && !Extremes::is_nan(*greatest);
                if *index < 0 || v > *greatest || nan {
                    (*index, *greatest) = (place, v);
                }
            });
    }
    owned(indices)
}

fn avg<E: Real>(x: &NdArrayTensor, windows: &Windows, options: &PoolOptions, meta: &Meta) -> Values {
    // A window can be the whole plane: the sum of so many is taken in `f64`.
    let mut sums = ArrayD::<f64>::zeros(dims(&meta.shape));
    if !x.is_empty() {
        let x = x.view::<E>();
        for tap in windows.taps() {
            let mut sums = take_mut(sums.view_mut(), &tap.output);
            let x = take(x.view(), &tap.input);
            Zip::from(&mut sums)
                .and(&x)
                .for_each(|sum, v| *sum += v.to_f64().unwrap_or(f64::NAN));
        }
    }
    sums.zip_mut_with(&counts(windows, options), |sum, &count| *sum /= count);
    owned(sums.mapv(real::<E>))
}

fn avg_grad<E: Real>(grad: &NdArrayTensor, windows: &Windows, options: &PoolOptions, meta: &Meta) -> Values {
    let mut result = ArrayD::from_elem(dims(&meta.shape), E::ZERO);
    let mut shares = grad.view::<E>().to_owned();
    let counts = counts(windows, options).mapv(real::<E>);
    shares.zip_mut_with(&counts, |share, &count| *share = *share / count);
    for tap in windows.taps() {
        take_mut(result.view_mut(), &tap.input)
            .zip_mut_with(&take(shares.view(), &tap.output), |r, &share| *r = *r + share);
    }
    owned(result)
}

/// How many elements each window counts.
fn counts(windows: &Windows, options: &PoolOptions) -> ArrayD<f64> {
    let output = dims(windows.output);
    if options.count_include_pad {
        return ArrayD::from_elem(output, windows.kernel.iter().map(|&n| n as f64).product());
    }
    let mut counts = ArrayD::zeros(output);
    for tap in windows.taps() {
        take_mut(counts.view_mut(), &tap.output).mapv_inplace(|count: f64| count + 1.0);
    }
    counts
}

fn real<E: Real>(v: f64) -> E {
    E::from(v).expect("a float takes any number")
}
