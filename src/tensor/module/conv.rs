use smallvec::SmallVec;

use crate::backend::Backend;
use crate::element::FloatElement;
use crate::op;
use crate::raw;
pub use crate::raw::DeformConvOptions;
use crate::shape::{Dims, Shape};
use crate::tensor::Tensor;

/// How a kernel moves over its input, in `N` spatial axes. The default has stride and dilation 1, no padding and one
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
        ConvOptions::new_with_padding(stride, both_sides(padding), dilation, groups)
    }

    /// Stride, padding before and after, dilation and groups.
    ///
    /// ```
    /// use keyway::module::ConvOptions;
    /// let options = ConvOptions::new_with_padding([1], [(0, 2)], [1], 1);
    /// assert_eq!(options, ConvOptions { padding: [(0, 2)], ..ConvOptions::default() });
    /// ```
    pub fn new_with_padding(
        stride: [usize; N],
        padding: [(usize, usize); N],
        dilation: [usize; N],
        groups: usize,
    ) -> Self {
        ConvOptions {
            stride,
            padding,
            dilation,
            groups,
        }
    }

    /// Whether the padding before an axis differs from that after it.
    ///
    /// ```
    /// use keyway::module::ConvOptions;
    /// assert!(ConvOptions::new_with_padding([1], [(0, 2)], [1], 1).is_asymmetric());
    /// ```
    pub fn is_asymmetric(&self) -> bool {
        self.padding.iter().any(|(before, after)| before != after)
    }
}

impl<const N: usize> Default for ConvOptions<N> {
    fn default() -> Self {
        ConvOptions::new([1; N], [0; N], [1; N], 1)
    }
}

impl<const N: usize> From<ConvOptions<N>> for op::ConvOptions {
    fn from(options: ConvOptions<N>) -> Self {
        op::ConvOptions {
            stride: Dims::from_slice(&options.stride),
            padding: SmallVec::from_slice(&options.padding),
            dilation: Dims::from_slice(&options.dilation),
            groups: options.groups,
        }
    }
}

/// How the kernel of a transposed convolution moves, in `N` spatial axes. The default has stride and dilation 1, no padding
/// and one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvTransposeOptions<const N: usize> {
    /// The distance between applications.
    pub stride: [usize; N],
    /// What is taken away before and after: the padding of the convolution that this is the adjoint of.
    pub padding: [(usize, usize); N],
    /// What the result is longer at its end: of the sizes that the stride leaves possible, it chooses one.
    pub padding_out: [usize; N],
    /// The distance between the kernel's elements.
    pub dilation: [usize; N],
    /// Into how many independent parts the channels fall.
    pub groups: usize,
}

impl<const N: usize> ConvTransposeOptions<N> {
    /// Stride, padding, padding out, dilation and groups, with the same padding before and after.
    ///
    /// ```
    /// use keyway::module::ConvTransposeOptions;
    /// let options = ConvTransposeOptions::new([2], [0], [1], [1], 1);
    /// assert_eq!(options, ConvTransposeOptions { stride: [2], padding_out: [1], ..Default::default() });
    /// ```
    pub fn new(
        stride: [usize; N],
        padding: [usize; N],
        padding_out: [usize; N],
        dilation: [usize; N],
        groups: usize,
    ) -> Self {
        ConvTransposeOptions {
            stride,
            padding: both_sides(padding),
            padding_out,
            dilation,
            groups,
        }
    }
}

impl<const N: usize> Default for ConvTransposeOptions<N> {
    fn default() -> Self {
        ConvTransposeOptions::new([1; N], [0; N], [0; N], [1; N], 1)
    }
}

impl<const N: usize> From<ConvTransposeOptions<N>> for raw::ConvTransposeOptions {
    fn from(options: ConvTransposeOptions<N>) -> Self {
        let ConvTransposeOptions {
            stride,
            padding,
            padding_out,
            dilation,
            groups,
        } = options;
        raw::ConvTransposeOptions {
            conv: ConvOptions::new_with_padding(stride, padding, dilation, groups).into(),
            padding_out: Dims::from_slice(&padding_out),
        }
    }
}

// A row ends with the input and the weights of its examples.

macro_rules! conv {
    ($(
        $conv:ident $transpose:ident $rank:literal $axes:literal $spatial:literal, $x:tt $weight:tt;
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
            Tensor::of(x.into_raw().conv(weight.into_raw(), bias, options))
        }

        #[doc = concat!("The adjoint of [`", stringify!($conv), "`] in its input: `x` is `[batch, in, ", $spatial, "]`,")]
        /// `weight` `[in, out / groups, kernel…]`, `bias` `[out]`, and the result `[batch, out, …]`. Along each spatial
        /// axis its size is `(size - 1) stride - padding + dilation (kernel - 1) + 1 + padding_out`, with the padding of both
        /// sides: of the sizes that the stride leaves possible, `padding_out` chooses one, at the end.
        ///
        #[doc = example!(
            $rank [x = $x, weight = $weight],
            concat!(stringify!($transpose), "(x, weight, None, Default::default())") => "[1.0, 12.0, 24.0, 40.0]"
        )]
        ///
        /// # Panics
        /// If the shapes do not fit.
        #[track_caller]
        pub fn $transpose<B: Backend, E: FloatElement>(
            x: Tensor<B, $rank, E>,
            weight: Tensor<B, $rank, E>,
            bias: Option<Tensor<B, 1, E>>,
            options: ConvTransposeOptions<$axes>,
        ) -> Tensor<B, $rank, E> {
            let (weight, bias) = (weight.into_raw(), bias.map(Tensor::into_raw));
            Tensor::of(x.into_raw().conv_transpose(weight, bias, options))
        }
    )* };
}

conv! {
    conv1d conv_transpose1d 3 1 "length", [[[1.0, 2.0, 4.0]]] [[[1.0, 10.0]]];
    conv2d conv_transpose2d 4 2 "height, width", [[[[1.0, 2.0, 4.0]]]] [[[[1.0, 10.0]]]];
    conv3d conv_transpose3d 5 3 "depth, height, width", [[[[[1.0, 2.0, 4.0]]]]] [[[[[1.0, 10.0]]]]];
}

/// The gradient of [`conv2d`] in its weights, for one of its result.
///
/// ```
/// use keyway::module::{ConvOptions, conv2d_weight_backward};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0, 3.0]]]], &device);
/// let (weight, grad) = (Tensor::zeros([1, 1, 1, 2], &device), Tensor::ones([1, 1, 1, 2], &device));
/// assert_eq!(conv2d_weight_backward(x, weight, grad, ConvOptions::default()).into_vec()?, [3.0, 5.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes are not those of such a convolution.
#[track_caller]
pub fn conv2d_weight_backward<B: Backend, E: FloatElement>(
    x: Tensor<B, 4, E>,
    weight: Tensor<B, 4, E>,
    output_grad: Tensor<B, 4, E>,
    options: ConvOptions<2>,
) -> Tensor<B, 4, E> {
    let (weight, grad) = (weight.into_raw(), output_grad.into_raw());
    Tensor::of(x.into_raw().conv_weight_backward(weight, grad, options))
}

/// [`conv2d`] whose kernel's elements each lie elsewhere, and count as `mask` says (Dai et al. 2017, Zhu et al. 2019): `x`
/// is `[batch, in, height, width]`, `weight` `[out, in / weight groups, kernel height, kernel width]`, `bias` `[out]`. Of
/// each element and each group of channels, `offset`, `[batch, offset groups · kernel height · kernel width · 2, …]`, holds
/// how far down and how far right it is moved at each place of the result, and `mask`, `[batch, offset groups · kernel
/// height · kernel width, …]`, a factor. Between elements the image is bilinear, outside it is 0.
///
/// ```
/// use keyway::module::{DeformConvOptions, deform_conv2d};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0, 4.0]]]], &device);
/// let right = Tensor::from_array([[[[0.0, 0.0, 0.0]], [[0.5, 0.5, 0.5]]]], &device);
/// let weight = Tensor::ones([1, 1, 1, 1], &device);
/// let y = deform_conv2d(x, right, weight, None, None, DeformConvOptions::default());
/// assert_eq!(y.into_vec()?, [1.5, 3.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes do not fit.
#[track_caller]
pub fn deform_conv2d<B: Backend, E: FloatElement>(
    x: Tensor<B, 4, E>,
    offset: Tensor<B, 4, E>,
    weight: Tensor<B, 4, E>,
    mask: Option<Tensor<B, 4, E>>,
    bias: Option<Tensor<B, 1, E>>,
    options: DeformConvOptions<2>,
) -> Tensor<B, 4, E> {
    let (offset, weight) = (offset.into_raw(), weight.into_raw());
    let (mask, bias) = (mask.map(Tensor::into_raw), bias.map(Tensor::into_raw));
    Tensor::of(x.into_raw().deform_conv2d(offset, weight, mask, bias, options))
}

/// The spatial size of what a convolution gives for an input of this size and a weight of this shape, `[out, in / groups,
/// kernel…]`; `None` if there is none.
///
/// ```
/// use keyway::module::{ConvOptions, conv_output_size};
/// let options = ConvOptions::new([2, 1], [1, 0], [1, 1], 1);
/// assert_eq!(conv_output_size([8, 8], &[4, 3, 3, 3].into(), &options), Some([4, 6]));
/// assert_eq!(conv_output_size([8, 2], &[4, 3, 3, 3].into(), &options), None);
/// ```
pub fn conv_output_size<const N: usize>(
    input_size: [usize; N],
    weight_shape: &Shape,
    options: &ConvOptions<N>,
) -> Option<[usize; N]> {
    array(raw::conv_output_size(
        &input_size,
        kernel::<N>(weight_shape)?,
        &(*options).into(),
    ))
}

/// The spatial size of what a transposed convolution gives for an input of this size and a weight of this shape, `[in, out /
/// groups, kernel…]`; `None` if there is none.
///
/// ```
/// use keyway::module::{ConvTransposeOptions, conv_transpose_output_size};
/// let options = ConvTransposeOptions::new([2], [1], [1], [1], 1);
/// assert_eq!(conv_transpose_output_size([4], &[3, 4, 3].into(), &options), Some([8]));
/// ```
pub fn conv_transpose_output_size<const N: usize>(
    input_size: [usize; N],
    weight_shape: &Shape,
    options: &ConvTransposeOptions<N>,
) -> Option<[usize; N]> {
    let options = raw::ConvTransposeOptions::from(*options);
    array(options.output_size(&input_size, kernel::<N>(weight_shape)?))
}

/// The sizes of a kernel that moves along `N` axes.
fn kernel<const N: usize>(weight: &Shape) -> Option<&[usize]> {
    weight.get(2..).filter(|kernel| kernel.len() == N)
}

pub(super) fn array<const N: usize>(sizes: Option<Dims>) -> Option<[usize; N]> {
    sizes?.as_slice().try_into().ok()
}

pub(super) fn both_sides<const N: usize>(padding: [usize; N]) -> [(usize, usize); N] {
    padding.map(|n| (n, n))
}
