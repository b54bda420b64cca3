//! Activations.

use super::{AsDim, Tensor};
use crate::backend::Backend;
use crate::element::FloatElement;

/// `max(x, 0)`; its gradient at 0 is 0. NaN stays.
///
/// ```
/// use keyway::activation::relu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 0.0, 2.0], &Default::default());
/// assert_eq!(relu(x).into_vec()?, [0.0, 0.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn relu<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().relu())
}

/// `x`, but `negative_slope · x` below 0; its gradient at 0 is the slope.
///
/// ```
/// use keyway::activation::leaky_relu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-2.0, 3.0], &Default::default());
/// assert_eq!(leaky_relu(x, 0.5).into_vec()?, [-1.0, 3.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn leaky_relu<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    negative_slope: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().leaky_relu(negative_slope))
}

/// `x`, but `alpha (eˣ - 1)` below 0 (Clevert et al. 2016).
///
/// ```
/// use keyway::activation::elu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 2.0], &Default::default());
/// assert_eq!(elu(x, 1.0).to_string(), "[-0.6321,  2.0000]");
/// ```
#[track_caller]
pub fn elu<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>, alpha: f64) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().elu(alpha))
}

/// `x`, but `alpha (e^(x / alpha) - 1)` below 0 (Barron 2017).
///
/// ```
/// use keyway::activation::celu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 2.0], &Default::default());
/// assert_eq!(celu(x, 2.0).to_string(), "[-0.7869,  2.0000]");
/// ```
///
/// # Panics
/// If `alpha` is 0, infinite or NaN.
#[track_caller]
pub fn celu<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>, alpha: f64) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().celu(alpha))
}

/// [`elu`] scaled so that activations keep mean 0 and variance 1 (Klambauer et al. 2017).
///
/// ```
/// use keyway::activation::selu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 1.0], &Default::default());
/// assert_eq!(selu(x).to_string(), "[-1.1113,  1.0507]");
/// ```
#[track_caller]
pub fn selu<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().selu())
}

/// `x Φ(x)`, where Φ is the normal distribution function (Hendrycks & Gimpel 2016).
///
/// ```
/// use keyway::activation::gelu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 1.0], &Default::default());
/// assert_eq!(gelu(x).to_string(), "[-0.1587,  0.8413]");
/// ```
#[track_caller]
pub fn gelu<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().gelu())
}

/// `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))`, near [`gelu`].
///
/// ```
/// use keyway::activation::gelu_approximate;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 1.0], &Default::default());
/// assert_eq!(gelu_approximate(x).to_string(), "[-0.1588,  0.8412]");
/// ```
#[track_caller]
pub fn gelu_approximate<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().gelu_approximate())
}

/// `x sigmoid(x)`, also called swish.
///
/// ```
/// use keyway::activation::silu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 1.0], &Default::default());
/// assert_eq!(silu(x).to_string(), "[-0.2689,  0.7311]");
/// ```
#[track_caller]
pub fn silu<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().silu())
}

/// `1 / (1 + e⁻ˣ)`, without overflow.
///
/// ```
/// use keyway::activation::sigmoid;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.0, 1.0], &Default::default());
/// assert_eq!(sigmoid(x).to_string(), "[0.5000, 0.7311]");
/// ```
#[track_caller]
pub fn sigmoid<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().sigmoid())
}

/// `ln sigmoid(x)`, without underflow.
///
/// ```
/// use keyway::activation::log_sigmoid;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.0, -1000.0], &Default::default());
/// assert_eq!(log_sigmoid(x).to_string(), "[   -0.6931, -1000.0000]");
/// ```
#[track_caller]
pub fn log_sigmoid<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().log_sigmoid())
}

/// `alpha x + beta`, clamped to `0..=1`.
///
/// ```
/// use keyway::activation::hard_sigmoid;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-5.0, 0.0, 1.0], &Default::default());
/// assert_eq!(hard_sigmoid(x, 0.2, 0.5).to_string(), "[0.0000, 0.5000, 0.7000]");
/// ```
#[track_caller]
pub fn hard_sigmoid<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    alpha: f64,
    beta: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().hard_sigmoid(alpha, beta))
}

/// `x` times `x / 6 + 1/2` clamped to `0..=1` (Howard et al. 2019).
///
/// ```
/// use keyway::activation::hard_swish;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 1.0, 4.0], &Default::default());
/// assert_eq!(hard_swish(x).to_string(), "[-0.3333,  0.6667,  4.0000]");
/// ```
#[track_caller]
pub fn hard_swish<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().hard_swish())
}

/// `x tanh(softplus(x))` (Misra 2019).
///
/// ```
/// use keyway::activation::mish;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 1.0], &Default::default());
/// assert_eq!(mish(x).to_string(), "[-0.3034,  0.8651]");
/// ```
#[track_caller]
pub fn mish<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().mish())
}

/// `tanh x`, as [`Tensor::tanh`].
///
/// ```
/// use keyway::activation::tanh;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.0, 1.0], &Default::default());
/// assert_eq!(tanh(x).to_string(), "[0.0000, 0.7616]");
/// ```
#[track_caller]
pub fn tanh<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().tanh())
}

/// `ln(1 + e^(beta x)) / beta`, without overflow.
///
/// ```
/// use keyway::activation::softplus;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.0, 1000.0], &Default::default());
/// assert_eq!(softplus(x, 1.0).to_string(), "[   0.6931, 1000.0000]");
/// ```
#[track_caller]
pub fn softplus<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    beta: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().softplus(beta))
}

/// `x / (1 + |x|)`.
///
/// ```
/// use keyway::activation::softsign;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 3.0], &Default::default());
/// assert_eq!(softsign(x).into_vec()?, [-0.5, 0.75]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn softsign<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().softsign())
}

/// `x`, but `alpha · x` below 0 (He et al. 2015); its gradient at 0 is the slope. `alpha` holds one slope, or one for
/// each channel (axis 1).
///
/// ```
/// use keyway::activation::prelu;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[-2.0, -2.0, 3.0]], &device);
/// let slopes = Tensor::from_array([0.5, 0.25, 0.5], &device);
/// assert_eq!(prelu(x, slopes).into_vec()?, [-1.0, -0.5, 3.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there are neither one nor as many slopes as channels.
#[track_caller]
pub fn prelu<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    alpha: Tensor<B, 1, E>,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().prelu(alpha.into_raw()))
}

/// `eˣ / Σ eˣ` along an axis. A row of -inf alone gives NaN.
///
/// ```
/// use keyway::activation::softmax;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::zeros([1, 4], &Default::default());
/// assert_eq!(softmax(x, 1).into_vec()?, [0.25; 4]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn softmax<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    let axis = dim.axis(D);
    Tensor::of(x.into_raw().softmax(axis))
}

/// The logarithm of [`softmax`], without underflow.
///
/// ```
/// use keyway::activation::log_softmax;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[0.0, 1000.0]], &Default::default());
/// assert_eq!(log_softmax(x, 1).into_vec()?, [-1000.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn log_softmax<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    let axis = dim.axis(D);
    Tensor::of(x.into_raw().log_softmax(axis))
}

/// [`softmax`] of `-x`: the least element weighs most.
///
/// ```
/// use keyway::activation::softmin;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[0.0, 1000.0]], &Default::default());
/// assert_eq!(softmin(x, 1).into_vec()?, [1.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn softmin<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    let axis = dim.axis(D);
    Tensor::of(x.into_raw().softmin(axis))
}

/// `eˣ / (1 + Σ eˣ)` along an axis: it can be near 0 everywhere.
///
/// ```
/// use keyway::activation::quiet_softmax;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::zeros([1, 3], &Default::default());
/// assert_eq!(quiet_softmax(x, 1).into_vec()?, [0.25; 3]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn quiet_softmax<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    let axis = dim.axis(D);
    Tensor::of(x.into_raw().quiet_softmax(axis))
}

/// The first half along an axis times the sigmoid of the second (Dauphin et al. 2017).
///
/// ```
/// use keyway::activation::glu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[2.0, 4.0, 0.0, 1000.0]], &Default::default());
/// assert_eq!(glu(x, 1).into_vec()?, [1.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis, or its size is odd.
#[track_caller]
pub fn glu<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    let axis = dim.axis(D);
    Tensor::of(x.into_raw().glu(axis))
}

/// [`softplus`], but `x` where `beta x` is above the threshold.
///
/// ```
/// use keyway::activation::softplus_with_threshold;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.0, 3.0], &Default::default());
/// assert_eq!(softplus_with_threshold(x, 1.0, 2.0).into_vec()?, [2f32.ln(), 3.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the threshold is NaN.
#[track_caller]
pub fn softplus_with_threshold<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    beta: f64,
    threshold: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().softplus_with_threshold(beta, threshold))
}

/// `x` between `min_val` and `max_val`; NaN stays.
///
/// ```
/// use keyway::activation::hardtanh;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-3.0, 0.5, 3.0], &Default::default());
/// assert_eq!(hardtanh(x, -1.0, 1.0).into_vec()?, [-1.0, 0.5, 1.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `min_val` is above `max_val`.
#[track_caller]
pub fn hardtanh<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    min_val: f64,
    max_val: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().hardtanh(min_val, max_val))
}

/// `x` between 0 and 6 (Howard et al. 2017); its gradient at 0 is 0. NaN stays.
///
/// ```
/// use keyway::activation::relu6;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 2.0, 7.0], &Default::default());
/// assert_eq!(relu6(x).into_vec()?, [0.0, 2.0, 6.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn relu6<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().relu6())
}

/// `x - tanh(x)`.
///
/// ```
/// use keyway::activation::tanhshrink;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.0, 20.0], &Default::default());
/// assert_eq!(tanhshrink(x).into_vec()?, [0.0, 19.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn tanhshrink<B: Backend, const D: usize, E: FloatElement>(x: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().tanhshrink())
}

/// `x` above `threshold`, `value` elsewhere; NaN stays.
///
/// ```
/// use keyway::activation::threshold;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.5, 1.0, 2.0], &Default::default());
/// assert_eq!(threshold(x, 1.0, -9.0).into_vec()?, [-9.0, -9.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the threshold is NaN.
#[track_caller]
pub fn threshold<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    threshold: f64,
    value: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().threshold(threshold, value))
}

/// `x` above `alpha`, 0 elsewhere; NaN stays.
///
/// ```
/// use keyway::activation::thresholded_relu;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.5, 1.0, 2.0], &Default::default());
/// assert_eq!(thresholded_relu(x, 1.0).into_vec()?, [0.0, 0.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `alpha` is NaN.
#[track_caller]
pub fn thresholded_relu<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    alpha: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().thresholded_relu(alpha))
}

/// `x` farther than `lambda` from 0, 0 elsewhere; NaN stays.
///
/// ```
/// use keyway::activation::hard_shrink;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 0.25, 0.5], &Default::default());
/// assert_eq!(hard_shrink(x, 0.5).into_vec()?, [-1.0, 0.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `lambda` is negative or NaN.
#[track_caller]
pub fn hard_shrink<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    lambda: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().hard_shrink(lambda))
}

/// `x` moved by `lambda` towards 0; 0 where that is nearer; NaN stays.
///
/// ```
/// use keyway::activation::soft_shrink;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-1.0, 0.25, 2.0], &Default::default());
/// assert_eq!(soft_shrink(x, 0.5).into_vec()?, [-0.5, 0.0, 1.5]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `lambda` is negative or NaN.
#[track_caller]
pub fn soft_shrink<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    lambda: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().soft_shrink(lambda))
}

/// `x - bias` above `lambda`, `x + bias` below `-lambda`, 0 elsewhere; NaN stays.
///
/// ```
/// use keyway::activation::shrink;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([-2.0, 0.25, 2.0], &Default::default());
/// assert_eq!(shrink(x, 0.5, 1.0).into_vec()?, [-1.0, 0.0, 1.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `lambda` is negative or NaN, or the bias is not finite.
#[track_caller]
pub fn shrink<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    lambda: f64,
    bias: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().shrink(lambda, bias))
}
