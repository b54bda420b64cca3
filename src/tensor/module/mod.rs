//! What layers do, as functions of their parameters.

use super::{Tensor, ok};
use crate::backend::Backend;
use crate::element::{FloatElement, IntElement};
pub use crate::raw::{AttentionModuleOptions, CausalAlignment};

/// The example of a function that a macro makes: its arguments, all of this rank, a call on them, and its values.
macro_rules! example {
    ($rank:literal [$($arg:ident = $value:tt),+], $call:expr => $values:literal) => {
        concat!(
            "```\nuse keyway::prelude::*;\nlet device = Default::default();",
            $("\nlet ", stringify!($arg), " = Tensor::<Flex, ", $rank, ">::from_array(", stringify!($value), ", &device);",)+
            "\nassert_eq!(module::", $call, ".into_vec()?, ", $values, ");\n# Ok::<(), keyway::Error>(())\n```",
        )
    };
}

mod conv;
mod pool;
mod resample;

pub use conv::{
    ConvOptions, ConvTransposeOptions, DeformConvOptions, conv_output_size, conv_transpose_output_size,
    conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv2d_weight_backward, conv3d,
    deform_conv2d,
};
pub use pool::{
    AvgPoolOptions, MaxPoolOptions, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d,
    avg_pool_output_size, avg_pool1d, avg_pool2d, avg_pool2d_backward, avg_pool3d, avg_pool3d_backward,
    max_pool_output_size, max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool2d_with_indices,
    max_pool2d_with_indices_backward, max_pool3d, max_pool3d_with_indices, max_pool3d_with_indices_backward,
};
pub use resample::{
    CoordinateTransformMode, CubicOptions, InterpolateMode, InterpolateOptions, NearestRoundingMode,
    UnfoldOptions, fold4d, interpolate, interpolate_output_size, unfold4d,
};

/// `x w + b` over the last axis: `x` is `[…, in]`, `weight` `[in, out]`, `bias` `[out]`, the result `[…, out]`.
///
/// ```
/// use keyway::module::linear;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0, 3.0], &device);
/// let weight = Tensor::from_array([[1.0], [1.0], [1.0]], &device);
/// assert_eq!(linear(x, weight, None).into_vec()?, [6.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the sizes do not fit.
#[track_caller]
pub fn linear<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    weight: Tensor<B, 2, E>,
    bias: Option<Tensor<B, 1, E>>,
) -> Tensor<B, D, E> {
    const { assert!(D >= 1, "`linear` works on the last axis: it needs rank 1 or more") }
    Tensor::of(x.into_raw().linear(weight.into_raw(), bias.map(Tensor::into_raw)))
}

/// The rows of `weights`, `[n, width]`, that `indices` name, in `D2 = D + 1` axes: those of `indices`, and one of size
/// `width`.
///
/// ```
/// use keyway::module::embedding;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let weights = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &device);
/// let indices = Tensor::<Flex, 1, i32>::from_array([2, 0], &device);
/// let rows: Tensor<_, 2> = embedding(weights, indices);
/// assert_eq!(rows.into_vec()?, [5.0, 6.0, 1.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If an index is not in `0..n`.
#[track_caller]
pub fn embedding<B: Backend, const D: usize, const D2: usize, E: FloatElement, I: IntElement>(
    weights: Tensor<B, 2, E>,
    indices: Tensor<B, D, I>,
) -> Tensor<B, D2, E> {
    const { assert!(D2 == D + 1, "`embedding` adds one axis: D2 must be D + 1") }
    Tensor::of(weights.into_raw().embedding(indices.into_raw()))
}

/// `(x - mean) / √(var + eps) · weight + bias` over the last axis, with the biased variance (Ba et al. 2016). `weight`
/// and `bias` are as long as that axis.
///
/// ```
/// use keyway::module::layer_norm;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 3.0], [8.0, 4.0]], &device);
/// let bias = Tensor::from_array([0.0, 10.0], &device);
/// assert_eq!(layer_norm(x, None, Some(bias), 0.0).into_vec()?, [-1.0, 11.0, 1.0, 9.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If weight or bias are not as long as the last axis, or `eps` is negative.
#[track_caller]
pub fn layer_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    weight: Option<Tensor<B, 1, E>>,
    bias: Option<Tensor<B, 1, E>>,
    eps: f64,
) -> Tensor<B, D, E> {
    let (weight, bias) = (weight.map(Tensor::into_raw), bias.map(Tensor::into_raw));
    Tensor::of(x.into_raw().layer_norm(weight, bias, eps))
}

/// `softmax(q kᵀ · scale + bias) v` over the last two axes; the others are batch axes (Vaswani et al. 2017). `query` is
/// `[…, m, d]`, `key` `[…, n, d]`, `value` `[…, n, e]`, the result `[…, m, e]`; `mask` (true hides) and `bias` stretch to
/// `[…, m, n]`. A query from which everything is hidden gives zeros. The last batch axis counts heads: where those of the
/// query are a multiple of those of key and value, as many in a row share one.
///
/// ```
/// use keyway::module::{AttentionModuleOptions, attention};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let query = Tensor::<Flex, 2>::zeros([2, 1], &device); // weighs all keys alike
/// let value = Tensor::from_array([[1.0], [3.0]], &device);
/// let options = AttentionModuleOptions { is_causal: true, ..Default::default() };
/// assert_eq!(attention(query.clone(), query, value, None, None, options).into_vec()?, [1.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes do not fit, or the soft cap is not positive.
#[track_caller]
pub fn attention<B: Backend, const D: usize, E: FloatElement>(
    query: Tensor<B, D, E>,
    key: Tensor<B, D, E>,
    value: Tensor<B, D, E>,
    mask: Option<Tensor<B, D, bool>>,
    bias: Option<Tensor<B, D, E>>,
    options: AttentionModuleOptions,
) -> Tensor<B, D, E> {
    const {
        assert!(
            D >= 2,
            "`attention` works on the last two axes: it needs rank 2 or more"
        )
    }
    let (mask, bias) = (mask.map(Tensor::into_raw), bias.map(Tensor::into_raw));
    let query = query.into_raw();
    Tensor::of(query.attention(key.into_raw(), value.into_raw(), mask, bias, options))
}

/// `(x - mean) / √(variance + epsilon) · gamma + beta` for each channel of `[batch, channels, …]`, axis 1 (Ioffe & Szegedy
/// 2015); the others hold one number for each channel.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 20.0], [3.0, 40.0]], &device);
/// let [gamma, beta, mean, variance] =
///     [[1.0, 1.0], [0.0, 5.0], [2.0, 30.0], [1.0, 100.0]].map(|x| Tensor::from_array(x, &device));
/// let y = module::batch_norm(x, gamma, beta, mean, variance, 0.0);
/// assert_eq!(y.into_vec()?, [-1.0, 4.0, 1.0, 6.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there are other channels, or `epsilon` is negative.
#[track_caller]
pub fn batch_norm<B: Backend, const D: usize, E: FloatElement>(
    input: Tensor<B, D, E>,
    gamma: Tensor<B, 1, E>,
    beta: Tensor<B, 1, E>,
    mean: Tensor<B, 1, E>,
    variance: Tensor<B, 1, E>,
    epsilon: f64,
) -> Tensor<B, D, E> {
    const { assert!(D >= 2, "`batch_norm` needs batch and channels: rank 2 or more") }
    let [gamma, beta, mean, variance] = [gamma, beta, mean, variance].map(Tensor::into_raw);
    Tensor::of(input.into_raw().batch_norm(gamma, beta, mean, variance, epsilon))
}

/// What [`batch_norm_train`] gives.
#[derive(Clone, Debug)]
pub struct BatchNormTrainOutput<B: Backend, const D: usize, E: FloatElement = f32> {
    /// The normalized input.
    pub output: Tensor<B, D, E>,
    /// The mean of each channel; it carries no gradient.
    pub mean: Tensor<B, 1, E>,
    /// The biased variance of each channel, without `epsilon`; it carries no gradient.
    pub variance: Tensor<B, 1, E>,
}

/// [`batch_norm`] with the mean and the biased variance of the input itself, over all axes but that of channels. The
/// gradient of the output is that of both.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[1.0], [3.0]], &device);
/// let (gamma, beta) = (Tensor::from_array([10.0], &device), Tensor::from_array([0.0], &device));
/// let train = module::batch_norm_train(x, gamma, beta, 0.0);
/// assert_eq!(train.output.into_vec()?, [-10.0, 10.0]);
/// assert_eq!((train.mean.into_vec()?, train.variance.into_vec()?), (vec![2.0], vec![1.0]));
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there are other channels, or `epsilon` is negative.
#[track_caller]
pub fn batch_norm_train<B: Backend, const D: usize, E: FloatElement>(
    input: Tensor<B, D, E>,
    gamma: Tensor<B, 1, E>,
    beta: Tensor<B, 1, E>,
    epsilon: f64,
) -> BatchNormTrainOutput<B, D, E> {
    const {
        assert!(
            D >= 2,
            "`batch_norm_train` needs batch and channels: rank 2 or more"
        )
    }
    let (gamma, beta) = (gamma.into_raw(), beta.into_raw());
    let (output, mean, variance) = ok(input.into_raw().batch_norm_train(gamma, beta, epsilon));
    BatchNormTrainOutput {
        output: Tensor::of(Ok(output)),
        mean: Tensor::of(Ok(mean)),
        variance: Tensor::of(Ok(variance)),
    }
}

/// Connectionist temporal classification (Graves et al. 2006): `-ln P` for each sample of a batch, where P is the
/// probability of all alignments of its labels with its input, in which blanks may stand between labels and labels repeat.
///
/// `log_probs` is `[time, n, classes]`, what [`log_softmax`](crate::activation::log_softmax) gives; `targets` is `[n, s]`,
/// of classes other than `blank`; `input_lengths` and `target_lengths` are `[n]`: what stands beyond them counts nothing.
/// A target that needs more time than there is has the loss infinity, and gives no gradient.
///
/// ```
/// use keyway::module::ctc_loss;
/// use keyway::prelude::*;
/// let device = Default::default();
/// // Two steps, over which blank and label are equally likely: of four paths, three spell the label.
/// let log_probs = Tensor::<Flex, 3, f64>::full([2, 1, 2], 0.5f64.ln(), &device);
/// let target = Tensor::<Flex, 2, i32>::from_array([[1]], &device);
/// let (steps, labels) = (Tensor::<Flex, 1, i32>::from_array([2], &device), Tensor::from_array([1], &device));
/// let loss = ctc_loss(log_probs, target, steps, labels, 0).into_scalar()?;
/// assert!((loss + 0.75f64.ln()).abs() < 1e-12);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes do not fit, or a length, a label or `blank` is out of range.
#[track_caller]
pub fn ctc_loss<B: Backend, E: FloatElement, I: IntElement>(
    log_probs: Tensor<B, 3, E>,
    targets: Tensor<B, 2, I>,
    input_lengths: Tensor<B, 1, I>,
    target_lengths: Tensor<B, 1, I>,
    blank: usize,
) -> Tensor<B, 1, E> {
    let [targets, steps, labels] = [
        targets.into_raw(),
        input_lengths.into_raw(),
        target_lengths.into_raw(),
    ];
    Tensor::of(log_probs.into_raw().ctc_loss(targets, steps, labels, blank))
}
