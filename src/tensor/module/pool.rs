use smallvec::SmallVec;

use super::conv::{array, both_sides};
use crate::backend::Backend;
use crate::element::{FloatElement, IntElement};
use crate::op;
use crate::raw;
use crate::shape::Dims;
use crate::tensor::Tensor;

/// How windows move whose greatest element is taken, in `N` spatial axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaxPoolOptions<const N: usize> {
    /// The size of a window.
    pub kernel_size: [usize; N],
    /// The distance between windows.
    pub stride: [usize; N],
    /// Padding before and after, which is never the greatest.
    pub padding: [(usize, usize); N],
    /// The distance between a window's elements.
    pub dilation: [usize; N],
    /// Whether one more window may overhang the padded input, where it starts in the input or in the padding before it.
    pub ceil_mode: bool,
}

/// How windows move whose mean is taken, in `N` spatial axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AvgPoolOptions<const N: usize> {
    /// The size of a window.
    pub kernel_size: [usize; N],
    /// The distance between windows.
    pub stride: [usize; N],
    /// Padding before and after.
    pub padding: [(usize, usize); N],
    /// The distance between a window's elements.
    pub dilation: [usize; N],
    /// Whether padding counts as zeros, or not at all.
    pub count_include_pad: bool,
    /// Whether one more window may overhang the padded input, where it starts in the input or in the padding before it. What
    /// it lacks does not count.
    pub ceil_mode: bool,
}

impl<const N: usize> MaxPoolOptions<N> {
    /// Windows of this size side by side, without padding.
    ///
    /// ```
    /// use keyway::module::MaxPoolOptions;
    /// assert_eq!(MaxPoolOptions::new([2]), MaxPoolOptions::new([2]).with_stride([2]).with_padding([0]));
    /// ```
    pub fn new(kernel_size: [usize; N]) -> Self {
        MaxPoolOptions {
            kernel_size,
            stride: kernel_size,
            padding: [(0, 0); N],
            dilation: [1; N],
            ceil_mode: false,
        }
    }
}

impl<const N: usize> AvgPoolOptions<N> {
    /// Windows of this size side by side, without padding; padding, if there is any, counts.
    ///
    /// ```
    /// use keyway::module::AvgPoolOptions;
    /// assert_eq!(AvgPoolOptions::new([2]), AvgPoolOptions::new([2]).with_stride([2]).with_padding([0]));
    /// ```
    pub fn new(kernel_size: [usize; N]) -> Self {
        AvgPoolOptions {
            kernel_size,
            stride: kernel_size,
            padding: [(0, 0); N],
            dilation: [1; N],
            count_include_pad: true,
            ceil_mode: false,
        }
    }

    /// With padding that counts as zeros, or not at all.
    ///
    /// ```
    /// use keyway::module::AvgPoolOptions;
    /// assert!(!AvgPoolOptions::new([2]).with_count_include_pad(false).count_include_pad);
    /// ```
    pub fn with_count_include_pad(self, count_include_pad: bool) -> Self {
        AvgPoolOptions {
            count_include_pad,
            ..self
        }
    }
}

macro_rules! builders {
    ($($Options:ident)*) => { $(
        impl<const N: usize> $Options<N> {
            /// With another distance between windows.
            ///
            /// ```
            #[doc = concat!("use keyway::module::", stringify!($Options), ";")]
            #[doc = concat!("assert_eq!(", stringify!($Options), "::new([2]).with_stride([3]).stride, [3]);")]
            /// ```
            pub fn with_stride(self, stride: [usize; N]) -> Self {
                $Options { stride, ..self }
            }

            /// With the same padding before and after.
            ///
            /// ```
            #[doc = concat!("use keyway::module::", stringify!($Options), ";")]
            #[doc = concat!("assert_eq!(", stringify!($Options), "::new([2]).with_padding([1]).padding, [(1, 1)]);")]
            /// ```
            pub fn with_padding(self, padding: [usize; N]) -> Self {
                self.with_padding_pairs(both_sides(padding))
            }

            /// With padding before and after.
            ///
            /// ```
            #[doc = concat!("use keyway::module::", stringify!($Options), ";")]
            #[doc = concat!("assert!(", stringify!($Options), "::new([2]).with_padding_pairs([(0, 1)]).is_asymmetric());")]
            /// ```
            pub fn with_padding_pairs(self, padding: [(usize, usize); N]) -> Self {
                $Options { padding, ..self }
            }

            /// With another distance between a window's elements.
            ///
            /// ```
            #[doc = concat!("use keyway::module::", stringify!($Options), ";")]
            #[doc = concat!("assert_eq!(", stringify!($Options), "::new([2]).with_dilation([2]).dilation, [2]);")]
            /// ```
            pub fn with_dilation(self, dilation: [usize; N]) -> Self {
                $Options { dilation, ..self }
            }

            /// With or without a last window that overhangs.
            ///
            /// ```
            #[doc = concat!("use keyway::module::", stringify!($Options), ";")]
            #[doc = concat!("assert!(", stringify!($Options), "::new([2]).with_ceil_mode(true).ceil_mode);")]
            /// ```
            pub fn with_ceil_mode(self, ceil_mode: bool) -> Self {
                $Options { ceil_mode, ..self }
            }

            /// Whether the padding before an axis differs from that after it.
            ///
            /// ```
            #[doc = concat!("use keyway::module::", stringify!($Options), ";")]
            #[doc = concat!("assert!(!", stringify!($Options), "::new([2]).with_padding([1]).is_asymmetric());")]
            /// ```
            pub fn is_asymmetric(&self) -> bool {
                self.padding.iter().any(|(before, after)| before != after)
            }
        }
    )* };
}
builders!(MaxPoolOptions AvgPoolOptions);

impl<const N: usize> From<MaxPoolOptions<N>> for raw::PoolOptions {
    fn from(options: MaxPoolOptions<N>) -> Self {
        let MaxPoolOptions {
            kernel_size,
            stride,
            padding,
            dilation,
            ceil_mode,
        } = options;
        AvgPoolOptions {
            kernel_size,
            stride,
            padding,
            dilation,
            count_include_pad: true,
            ceil_mode,
        }
        .into()
    }
}

impl<const N: usize> From<AvgPoolOptions<N>> for raw::PoolOptions {
    fn from(options: AvgPoolOptions<N>) -> Self {
        raw::PoolOptions {
            windows: op::PoolOptions {
                kernel: Dims::from_slice(&options.kernel_size),
                stride: Dims::from_slice(&options.stride),
                padding: SmallVec::from_slice(&options.padding),
                dilation: Dims::from_slice(&options.dilation),
                count_include_pad: options.count_include_pad,
            },
            ceil_mode: options.ceil_mode,
        }
    }
}

// A row ends with the input, the window and the output size of its examples.

macro_rules! pool {
    ($(
        $max:ident $max_with_indices:ident $avg:ident $adaptive:ident($Size:ty) $rank:literal $axes:tt $spatial:literal,
        $x:tt $window:literal $output:literal;
    )*) => { $(
        #[doc = concat!("The greatest element of each window of `[batch, channels, ", $spatial, "]`; NaN if any is.")]
        /// [`max_pool_output_size`] is the size of the result.
        ///
        #[doc = example!(
            $rank [x = $x],
            concat!(stringify!($max), "(x, module::MaxPoolOptions::new(", $window, ").with_ceil_mode(true))")
                => "[3.0, 5.0]"
        )]
        ///
        /// # Panics
        /// If a window is larger than the padded input, or lies in the padding.
        #[track_caller]
        pub fn $max<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            options: MaxPoolOptions<$axes>,
        ) -> Tensor<B, $rank, E> {
            Tensor::of(x.into_raw().max_pool(options))
        }

        #[doc = concat!("[`", stringify!($max), "`], and where each element is in the flattened spatial axes:")]
        /// the first of several.
        ///
        #[doc = example!(
            $rank [x = $x],
            concat!(stringify!($max_with_indices), "(x, module::MaxPoolOptions::new(", $window, ")).1") => "[1]"
        )]
        ///
        /// # Panics
        /// If a window is larger than the padded input, or lies in the padding.
        #[track_caller]
        pub fn $max_with_indices<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            options: MaxPoolOptions<$axes>,
        ) -> (Tensor<B, $rank, E>, Tensor<B, $rank, i32>) {
            Tensor::of_pair(x.into_raw().max_pool_with_indices(options))
        }

        #[doc = concat!("The mean of each window of `[batch, channels, ", $spatial, "]`. Padding counts as zeros, or not at")]
        /// all, so that the mean of padding alone is NaN. [`avg_pool_output_size`] is the size of the result.
        ///
        #[doc = example!(
            $rank [x = $x],
            concat!(stringify!($avg), "(x, module::AvgPoolOptions::new(", $window, ").with_ceil_mode(true))")
                => "[2.0, 5.0]"
        )]
        ///
        /// # Panics
        /// If a window is larger than the padded input.
        #[track_caller]
        pub fn $avg<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            options: AvgPoolOptions<$axes>,
        ) -> Tensor<B, $rank, E> {
            Tensor::of(x.into_raw().avg_pool(options))
        }

        #[doc = concat!("The means of windows of `[batch, channels, ", $spatial, "]`, of which an axis has as many as")]
        /// `output_size` says: window `i` of `m` over `n` elements goes from `⌊i n / m⌋` to `⌈(i + 1) n / m⌉`.
        ///
        #[doc = example!(
            $rank [x = $x], concat!(stringify!($adaptive), "(x, ", $output, ")") => "[2.0, 3.5]"
        )]
        ///
        /// # Panics
        /// If the input or the output is empty.
        #[track_caller]
        pub fn $adaptive<B: Backend, E: FloatElement>(x: Tensor<B, $rank, E>, output_size: $Size) -> Tensor<B, $rank, E> {
            let output_size: [usize; $axes] = sizes!($axes output_size);
            Tensor::of(x.into_raw().adaptive_avg_pool(&output_size))
        }
    )* };
}

/// The size of one axis is a number.
macro_rules! sizes {
    (1 $size:ident) => {
        [$size]
    };
    ($axes:tt $size:ident) => {
        $size
    };
}

pool! {
    max_pool1d max_pool1d_with_indices avg_pool1d adaptive_avg_pool1d(usize) 3 1 "length",
    [[[1.0, 3.0, 2.0, 5.0]]] "[3]" "2";

    max_pool2d max_pool2d_with_indices avg_pool2d adaptive_avg_pool2d([usize; 2]) 4 2 "height, width",
    [[[[1.0, 3.0, 2.0, 5.0]]]] "[1, 3]" "[1, 2]";

    max_pool3d max_pool3d_with_indices avg_pool3d adaptive_avg_pool3d([usize; 3]) 5 3 "depth, height, width",
    [[[[[1.0, 3.0, 2.0, 5.0]]]]] "[1, 1, 3]" "[1, 1, 2]";
}

// A row ends with the input, the gradient, the window, its stride, padding and dilation, and the indices of its examples.

macro_rules! backward {
    ($(
        $max:ident $max_pool:ident $avg:ident $avg_pool:ident $rank:literal $axes:literal,
        $x:tt $grad:tt $window:literal $indices:literal;
    )*) => { $(
        #[doc = concat!("The gradient of [`", stringify!($avg_pool), "`] in its input `x`, for one of its result.")]
        ///
        #[doc = example!(
            $rank [x = $x, grad = $grad],
            concat!(stringify!($avg), "(x, grad, ", $window, ", true, false)") => "[0.5, 0.5, 1.0, 1.0]"
        )]
        ///
        /// # Panics
        /// If the gradient has not the shape of the pool's result.
        #[track_caller]
        #[allow(clippy::too_many_arguments)]
        pub fn $avg<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            grad: Tensor<B, $rank, E>,
            kernel_size: [usize; $axes],
            stride: [usize; $axes],
            padding: [usize; $axes],
            dilation: [usize; $axes],
            count_include_pad: bool,
            ceil_mode: bool,
        ) -> Tensor<B, $rank, E> {
            let options = AvgPoolOptions {
                kernel_size,
                stride,
                padding: both_sides(padding),
                dilation,
                count_include_pad,
                ceil_mode,
            };
            Tensor::of(x.into_raw().avg_pool_backward(grad.into_raw(), options))
        }

        #[doc = concat!("The gradient of [`", stringify!($max_pool), "`] in its input `x`, for one of its values and")]
        /// the indices that it gave.
        ///
        #[doc = example!(
            $rank [x = $x, grad = $grad],
            concat!(
                stringify!($max), "(x, ", $window, ", false, grad, Tensor::from_array(", $indices, ", &device))"
            ) => "[0.0, 1.0, 0.0, 2.0]"
        )]
        ///
        /// # Panics
        /// If the gradient or the indices have not the shape of the pool's result.
        #[track_caller]
        #[allow(clippy::too_many_arguments)]
        pub fn $max<B: Backend, E: FloatElement, I: IntElement>(
            x: Tensor<B, $rank, E>,
            kernel_size: [usize; $axes],
            stride: [usize; $axes],
            padding: [usize; $axes],
            dilation: [usize; $axes],
            ceil_mode: bool,
            output_grad: Tensor<B, $rank, E>,
            indices: Tensor<B, $rank, I>,
        ) -> Tensor<B, $rank, E> {
            let options = MaxPoolOptions {
                kernel_size,
                stride,
                padding: both_sides(padding),
                dilation,
                ceil_mode,
            };
            let (grad, indices) = (output_grad.into_raw(), indices.into_raw());
            Tensor::of(x.into_raw().max_pool_with_indices_backward(options, grad, indices))
        }
    )* };
}

backward! {
    max_pool2d_with_indices_backward max_pool2d_with_indices avg_pool2d_backward avg_pool2d 4 2,
    [[[[1.0, 3.0, 2.0, 5.0]]]] [[[[1.0, 2.0]]]] "[1, 2], [1, 2], [0, 0], [1, 1]" "[[[[1, 3]]]]";

    max_pool3d_with_indices_backward max_pool3d_with_indices avg_pool3d_backward avg_pool3d 5 3,
    [[[[[1.0, 3.0, 2.0, 5.0]]]]] [[[[[1.0, 2.0]]]]] "[1, 1, 2], [1, 1, 2], [0; 3], [1; 3]" "[[[[[1, 3]]]]]";
}

/// The spatial size of what a max pool gives for an input of this size; `None` if there is none.
///
/// ```
/// use keyway::module::{MaxPoolOptions, max_pool_output_size};
/// let options = MaxPoolOptions::new([2, 2]);
/// assert_eq!(max_pool_output_size([5, 4], &options), Some([2, 2]));
/// assert_eq!(max_pool_output_size([5, 4], &options.with_ceil_mode(true)), Some([3, 2]));
/// assert_eq!(max_pool_output_size([1, 4], &options), None);
/// ```
pub fn max_pool_output_size<const N: usize>(
    input_size: [usize; N],
    options: &MaxPoolOptions<N>,
) -> Option<[usize; N]> {
    array(raw::PoolOptions::from(*options).output_size(&input_size))
}

/// The spatial size of what a pool of means gives for an input of this size; `None` if there is none.
///
/// ```
/// use keyway::module::{AvgPoolOptions, avg_pool_output_size};
/// let options = AvgPoolOptions::new([3]).with_stride([2]).with_padding([1]);
/// assert_eq!(avg_pool_output_size([6], &options), Some([3]));
/// assert_eq!(avg_pool_output_size([6], &options.with_ceil_mode(true)), Some([4]));
/// ```
pub fn avg_pool_output_size<const N: usize>(
    input_size: [usize; N],
    options: &AvgPoolOptions<N>,
) -> Option<[usize; N]> {
    array(raw::PoolOptions::from(*options).output_size(&input_size))
}
