//! What layers do, as functions of their parameters.

use smallvec::SmallVec;

use super::Tensor;
use crate::backend::Backend;
use crate::element::{FloatElement, IntElement};
use crate::op::{self, PoolOptions};
pub use crate::raw::AttentionOptions;
use crate::shape::Dims;

/// How a kernel moves over its input, in `N` spatial axes. The default has stride and dilation 1, no padding and one
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvOptions<const N: usize> {
    /// The distance between applications.
    pub stride: [usize; N],
    /// Zeros before and after.
    pub padding: [(usize, usize); N],
    /// The distance between the kernel's elements.
    pub dilation: [usize; N],
    /// Into how many independent parts the channels fall.
    pub groups: usize,
}

impl<const N: usize> ConvOptions<N> {
    /// Stride, padding, dilation and groups, with the same padding before and after.
    ///
    /// ```
    /// use keyway::module::ConvOptions;
    /// let options = ConvOptions::new([2], [1], [1], 1);
    /// assert_eq!(options, ConvOptions { stride: [2], padding: [(1, 1)], ..ConvOptions::default() });
    /// ```
    pub fn new(stride: [usize; N], padding: [usize; N], dilation: [usize; N], groups: usize) -> Self {
        ConvOptions {
            stride,
            padding: both_sides(padding),
            dilation,
            groups,
        }
    }

    fn to_op(self) -> op::ConvOptions {
        op::ConvOptions {
            stride: Dims::from_slice(&self.stride),
            padding: SmallVec::from_slice(&self.padding),
            dilation: Dims::from_slice(&self.dilation),
            groups: self.groups,
        }
    }
}

impl<const N: usize> Default for ConvOptions<N> {
    fn default() -> Self {
        ConvOptions::new([1; N], [0; N], [1; N], 1)
    }
}

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
/// `[…, m, n]`. A query from which everything is hidden gives zeros.
///
/// ```
/// use keyway::module::{AttentionOptions, attention};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let query = Tensor::<Flex, 2>::zeros([2, 1], &device); // weighs all keys alike
/// let value = Tensor::from_array([[1.0], [3.0]], &device);
/// let options = AttentionOptions { is_causal: true, ..Default::default() };
/// assert_eq!(attention(query.clone(), query, value, None, None, options).into_vec()?, [1.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes do not fit.
#[track_caller]
pub fn attention<B: Backend, const D: usize, E: FloatElement>(
    query: Tensor<B, D, E>,
    key: Tensor<B, D, E>,
    value: Tensor<B, D, E>,
    mask: Option<Tensor<B, D, bool>>,
    bias: Option<Tensor<B, D, E>>,
    options: AttentionOptions,
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

// A row ends with the input, the weights and the `padding_out` of its examples.

macro_rules! conv {
    ($(
        $conv:ident $transpose:ident $rank:literal $axes:literal $spatial:literal, $x:tt $weight:tt $padding_out:literal;
    )*) => { $(
        #[doc = concat!("Cross-correlation: `x` is `[batch, in, ", $spatial, "]`, `weight` `[out, in / groups, kernel…]`,")]
        /// `bias` `[out]`, and the result `[batch, out, …]`. Along each spatial axis its size is
        /// `⌊(size + padding - dilation (kernel - 1) - 1) / stride⌋ + 1`, with the padding of both sides.
        ///
        #[doc = example!(
            $rank [x = $x, weight = $weight],
            concat!(stringify!($conv), "(x, weight, None, Default::default())") => "[21.0, 42.0]"
        )]
        ///
        /// # Panics
        /// If the shapes do not fit, or the kernel is larger than the padded input.
        #[track_caller]
        pub fn $conv<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            weight: Tensor<B, $rank, E>,
            bias: Option<Tensor<B, 1, E>>,
            options: ConvOptions<$axes>,
        ) -> Tensor<B, $rank, E> {
            let bias = bias.map(Tensor::into_raw);
            Tensor::of(x.into_raw().conv(weight.into_raw(), bias, options.to_op()))
        }

        #[doc = concat!("The adjoint of [`", stringify!($conv), "`] in its input: `x` is `[batch, in, ", $spatial, "]`,")]
        /// `weight` `[in, out / groups, kernel…]`, `bias` `[out]`, and the result `[batch, out, …]`. Along each spatial
        /// axis its size is `(size - 1) stride - padding + dilation (kernel - 1) + 1 + padding_out`, with the padding of both
        /// sides: of the sizes that the stride leaves possible, `padding_out` chooses one, at the end.
        ///
        #[doc = example!(
            $rank [x = $x, weight = $weight],
            concat!(stringify!($transpose), "(x, weight, None, Default::default(), ", $padding_out, ")")
                => "[1.0, 12.0, 24.0, 40.0]"
        )]
        ///
        /// # Panics
        /// If the shapes do not fit.
        #[track_caller]
        pub fn $transpose<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            weight: Tensor<B, $rank, E>,
            bias: Option<Tensor<B, 1, E>>,
            options: ConvOptions<$axes>,
            padding_out: [usize; $axes],
        ) -> Tensor<B, $rank, E> {
            let (weight, bias) = (weight.into_raw(), bias.map(Tensor::into_raw));
            Tensor::of(x.into_raw().conv_transpose(weight, bias, options.to_op(), &padding_out))
        }
    )* };
}

conv! {
    conv1d conv_transpose1d 3 1 "length", [[[1.0, 2.0, 4.0]]] [[[1.0, 10.0]]] "[0]";
    conv2d conv_transpose2d 4 2 "height, width", [[[[1.0, 2.0, 4.0]]]] [[[[1.0, 10.0]]]] "[0, 0]";
    conv3d conv_transpose3d 5 3 "depth, height, width", [[[[[1.0, 2.0, 4.0]]]]] [[[[[1.0, 10.0]]]]] "[0, 0, 0]";
}

// A row ends with the input, the kernel, the stride and the padding, and the dilation of its examples.

macro_rules! pool {
    ($(
        $max:ident $max_with_indices:ident $avg:ident $rank:literal $axes:literal $spatial:literal,
        $x:tt $window:literal $dilation:literal;
    )*) => { $(
        #[doc = concat!("The greatest element of each window of `[batch, channels, ", $spatial, "]`; NaN if any is.")]
        /// `stride` is the distance between windows, `dilation` that between a window's elements; `padding`, before and
        /// after, is never the greatest. Along each spatial axis the result has size
        /// `⌊(size + 2 padding - dilation (kernel - 1) - 1) / stride⌋ + 1`.
        ///
        #[doc = example!(
            $rank [x = $x], concat!(stringify!($max), "(x, ", $window, ", ", $dilation, ")") => "[3.0, 5.0]"
        )]
        ///
        /// # Panics
        /// If a window is larger than the padded input, or lies in the padding.
        #[track_caller]
        pub fn $max<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            kernel_size: [usize; $axes],
            stride: [usize; $axes],
            padding: [usize; $axes],
            dilation: [usize; $axes],
        ) -> Tensor<B, $rank, E> {
            let options = pool_options(kernel_size, stride, both_sides(padding), dilation, true);
            Tensor::of(x.into_raw().max_pool(options))
        }

        #[doc = concat!("[`", stringify!($max), "`], and where each element is in the flattened spatial axes:")]
        /// the first of several.
        ///
        #[doc = example!(
            $rank [x = $x],
            concat!(stringify!($max_with_indices), "(x, ", $window, ", ", $dilation, ").1") => "[1, 3]"
        )]
        ///
        /// # Panics
        /// If a window is larger than the padded input, or lies in the padding.
        #[track_caller]
        pub fn $max_with_indices<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            kernel_size: [usize; $axes],
            stride: [usize; $axes],
            padding: [usize; $axes],
            dilation: [usize; $axes],
        ) -> (Tensor<B, $rank, E>, Tensor<B, $rank, i32>) {
            let options = pool_options(kernel_size, stride, both_sides(padding), dilation, true);
            Tensor::of_pair(x.into_raw().max_pool_with_indices(options))
        }

        #[doc = concat!("The mean of each window of `[batch, channels, ", $spatial, "]`. `stride` is the distance")]
        /// between windows; `padding`, before and after, counts as zeros if `count_include_pad`, else not at all, so that
        /// the mean of padding alone is NaN. Along each spatial axis the result has size
        /// `⌊(size + 2 padding - kernel) / stride⌋ + 1`.
        ///
        #[doc = example!(
            $rank [x = $x], concat!(stringify!($avg), "(x, ", $window, ", true)") => "[2.0, 3.5]"
        )]
        ///
        /// # Panics
        /// If a window is larger than the padded input.
        #[track_caller]
        pub fn $avg<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            kernel_size: [usize; $axes],
            stride: [usize; $axes],
            padding: [usize; $axes],
            count_include_pad: bool,
        ) -> Tensor<B, $rank, E> {
            let options = pool_options(kernel_size, stride, both_sides(padding), [1; $axes], count_include_pad);
            Tensor::of(x.into_raw().avg_pool(options))
        }
    )* };
}

pool! {
    max_pool1d max_pool1d_with_indices avg_pool1d 3 1 "length",
    [[[1.0, 3.0, 2.0, 5.0]]] "[2], [2], [0]" "[1]";

    max_pool2d max_pool2d_with_indices avg_pool2d 4 2 "height, width",
    [[[[1.0, 3.0], [2.0, 5.0]]]] "[1, 2], [1, 2], [0, 0]" "[1, 1]";
}

pub(crate) fn pool_options<const N: usize>(
    kernel: [usize; N],
    stride: [usize; N],
    padding: [(usize, usize); N],
    dilation: [usize; N],
    count_include_pad: bool,
) -> PoolOptions {
    PoolOptions {
        kernel: Dims::from_slice(&kernel),
        stride: Dims::from_slice(&stride),
        padding: SmallVec::from_slice(&padding),
        dilation: Dims::from_slice(&dilation),
        count_include_pad,
    }
}

fn both_sides<const N: usize>(padding: [usize; N]) -> [(usize, usize); N] {
    padding.map(|n| (n, n))
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
