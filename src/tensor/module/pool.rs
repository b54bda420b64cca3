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
            pub fn with_stride(self, stride: [usize; N]) -> Self {
                $Options { stride, ..self }
            }

            /// With the same padding before and after.
            pub fn with_padding(self, padding: [usize; N]) -> Self {
                self.with_padding_pairs(both_sides(padding))
            }

            /// With padding before and after.
            pub fn with_padding_pairs(self, padding: [(usize, usize); N]) -> Self {
                $Options { padding, ..self }
            }

            /// With another distance between a window's elements.
            pub fn with_dilation(self, dilation: [usize; N]) -> Self {
                $Options { dilation, ..self }
            }

            /// With or without a last window that overhangs.
            pub fn with_ceil_mode(self, ceil_mode: bool) -> Self {
                $Options { ceil_mode, ..self }
            }

            /// Whether the padding before an axis differs from that after it.
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

macro_rules! pool {
    ($($max:ident $max_with_indices:ident $avg:ident $adaptive:ident($($Size:tt)*) $rank:literal $axes:tt
        $spatial:literal $x:literal $two:literal;)*) => { $(
        #[doc = concat!("The greatest element of each window of `[batch, channels, ", $spatial, "]`; NaN if any is.")]
        ///
        /// ```
        /// use keyway::module::MaxPoolOptions;
        /// use keyway::prelude::*;
        #[doc = concat!("let x = Tensor::<Flex, ", $rank, ">::from_array(", $x, ", &Default::default());")]
        #[doc = concat!("let y = module::", stringify!($max), "(x, MaxPoolOptions::new(", $two, ").with_ceil_mode(true));")]
        /// assert_eq!(y.into_vec()?, [2.0, 3.0]);
        /// # Ok::<(), keyway::Error>(())
        /// ```
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

        #[doc = concat!("[`", stringify!($max), "`], and where each element is in the flattened spatial axes.")]
        ///
        /// ```
        /// use keyway::module::MaxPoolOptions;
        /// use keyway::prelude::*;
        #[doc = concat!("let x = Tensor::<Flex, ", $rank, ">::from_array(", $x, ", &Default::default());")]
        #[doc = concat!("let (_, places) = module::", stringify!($max_with_indices), "(x, MaxPoolOptions::new(", $two, "));")]
        /// assert_eq!(places.into_vec()?, [1]);
        /// # Ok::<(), keyway::Error>(())
        /// ```
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

        #[doc = concat!("The mean of each window of `[batch, channels, ", $spatial, "]`; padding counts as zeros, or not at ",
            "all.")]
        ///
        /// ```
        /// use keyway::module::AvgPoolOptions;
        /// use keyway::prelude::*;
        #[doc = concat!("let x = Tensor::<Flex, ", $rank, ">::from_array(", $x, ", &Default::default());")]
        #[doc = concat!("let y = module::", stringify!($avg), "(x, AvgPoolOptions::new(", $two, ").with_ceil_mode(true));")]
        /// assert_eq!(y.into_vec()?, [1.5, 3.0]);
        /// # Ok::<(), keyway::Error>(())
        /// ```
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

        #[doc = concat!("The means of windows of `[batch, channels, ", $spatial, "]`, of which an axis has as many as ",
            "`output_size` says: window `i` of `m` over `n` elements goes from `⌊i n / m⌋` to `⌈(i + 1) n / m⌉`.")]
        ///
        /// ```
        /// use keyway::prelude::*;
        #[doc = concat!("let x = Tensor::<Flex, ", $rank, ">::from_array(", $x, ", &Default::default());")]
        #[doc = concat!("let y = module::", stringify!($adaptive), "(x, ", pool!(@ output $axes), ");")]
        /// assert_eq!(y.into_vec()?, [1.5, 2.5]);
        /// # Ok::<(), keyway::Error>(())
        /// ```
        ///
        /// # Panics
        /// If the input or the output is empty.
        #[track_caller]
        pub fn $adaptive<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            output_size: $($Size)*,
        ) -> Tensor<B, $rank, E> {
            let output_size: [usize; $axes] = pool!(@ sizes $axes output_size);
            Tensor::of(x.into_raw().adaptive_avg_pool(&output_size))
        }
    )* };
    (@ output 1) => { "2" };
    (@ output 2) => { "[1, 2]" };
    (@ output 3) => { "[1, 1, 2]" };
    (@ sizes 1 $size:ident) => { [$size] };
    (@ sizes $axes:tt $size:ident) => { $size };
}

pool! {
    max_pool1d max_pool1d_with_indices avg_pool1d adaptive_avg_pool1d(usize) 3 1 "length"
        "[[[1.0, 2.0, 3.0]]]" "[2]";
    max_pool2d max_pool2d_with_indices avg_pool2d adaptive_avg_pool2d([usize; 2]) 4 2 "height, width"
        "[[[[1.0, 2.0, 3.0]]]]" "[1, 2]";
    max_pool3d max_pool3d_with_indices avg_pool3d adaptive_avg_pool3d([usize; 3]) 5 3 "depth, height, width"
        "[[[[[1.0, 2.0, 3.0]]]]]" "[1, 1, 2]";
}

macro_rules! backward {
    ($($max:ident $max_pool:ident $avg:ident $avg_pool:ident $rank:literal $axes:literal $zeros:literal;)*) => { $(
        #[doc = concat!("The gradient of [`", stringify!($avg_pool), "`] in its input `x`, for one of its result.")]
        ///
        /// ```
        /// use keyway::module::*;
        /// use keyway::prelude::*;
        /// let device = Default::default();
        #[doc = concat!("let x = Tensor::<Flex, ", $rank, ">::ones([", $zeros, "; ", $rank, "], &device);")]
        #[doc = concat!("let options = AvgPoolOptions::new([", $zeros, "; ", $axes, "]);")]
        #[doc = concat!("let grad = ", stringify!($avg_pool), "(x.clone(), options);")]
        #[doc = concat!("let two = [", $zeros, "; ", $axes, "];")]
        #[doc = concat!("let grad = ", stringify!($avg), "(x, grad, two, two, [0; ", $axes, "], [1; ", $axes, "], true, false);")]
        #[doc = concat!("assert_eq!(grad.mean().into_scalar()?, 0.5f32.powi(", $axes, "));")]
        /// # Ok::<(), keyway::Error>(())
        /// ```
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

        #[doc = concat!("The gradient of [`", stringify!($max_pool), "`] in its input `x`, for one of its values and the indices ",
            "that it gave.")]
        ///
        /// ```
        /// use keyway::module::*;
        /// use keyway::prelude::*;
        /// let device = Default::default();
        #[doc = concat!("let x = Tensor::<Flex, ", $rank, ">::ones([", $zeros, "; ", $rank, "], &device);")]
        #[doc = concat!("let two = [", $zeros, "; ", $axes, "];")]
        #[doc = concat!("let (grad, indices) = ", stringify!($max_pool), "(x.clone(), MaxPoolOptions::new(two));")]
        #[doc = concat!("let (none, one) = ([0; ", $axes, "], [1; ", $axes, "]);")]
        #[doc = concat!("let grad = ", stringify!($max), "(x, two, two, none, one, false, grad, indices);")]
        /// assert_eq!(grad.sum().into_scalar()?, 4.0);
        /// # Ok::<(), keyway::Error>(())
        /// ```
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
    max_pool2d_with_indices_backward max_pool2d_with_indices avg_pool2d_backward avg_pool2d 4 2 "2";
    max_pool3d_with_indices_backward max_pool3d_with_indices avg_pool3d_backward avg_pool3d 5 3 "2";
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
