use crate::backend::Backend;
use crate::element::FloatElement;
pub use crate::raw::{
    CoordinateTransformMode, CubicOptions, InterpolateMode, InterpolateOptions, NearestRoundingMode,
    UnfoldOptions,
};
use crate::tensor::{Tensor, ok};

/// An image `[batch, channels, height, width]` with another height and width, given by the options or by their scale.
///
/// ```
/// use keyway::module::{InterpolateMode, InterpolateOptions, interpolate};
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 4>::from_array([[[[0.0, 4.0]]]], &Default::default());
/// let bilinear = InterpolateOptions::new(InterpolateMode::Bilinear).with_align_corners(false);
/// let y = interpolate(x, bilinear.with_scale_factor([1.0, 2.0]));
/// assert_eq!(y.into_vec()?, [0.0, 1.0, 3.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the options give no size or two, or a height or a width is 0.
#[track_caller]
pub fn interpolate<B: Backend, E: FloatElement>(
    x: Tensor<B, 4, E>,
    options: InterpolateOptions,
) -> Tensor<B, 4, E> {
    Tensor::of(x.into_raw().interpolate(options))
}

/// The height and the width of what [`interpolate`] gives for an input of this size.
///
/// ```
/// use keyway::module::{InterpolateMode, InterpolateOptions, interpolate_output_size};
/// let half = InterpolateOptions::new(InterpolateMode::Nearest).with_scale_factor([0.5, 0.5]);
/// assert_eq!(interpolate_output_size([5, 8], &half), [2, 4]);
/// ```
///
/// # Panics
/// If the options give no size or two, or a scale is not positive.
#[track_caller]
pub fn interpolate_output_size(input_size: [usize; 2], options: &InterpolateOptions) -> [usize; 2] {
    ok(options.size(input_size))
}

/// The blocks of an image `[batch, channels, height, width]`, each as a column: `[batch, channels · kernel height · kernel
/// width, blocks]`. A convolution is a product with them.
///
/// ```
/// use keyway::module::{UnfoldOptions, unfold4d};
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0, 3.0]]]], &Default::default());
/// let columns = unfold4d(x, [1, 2], UnfoldOptions::default());
/// assert_eq!(columns.into_data()?, TensorData::new(vec![1.0f32, 2.0, 2.0, 3.0], [1, 2, 2])?);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If a block is larger than the padded image, or a number is 0.
#[track_caller]
pub fn unfold4d<B: Backend, E: FloatElement>(
    x: Tensor<B, 4, E>,
    kernel_size: [usize; 2],
    options: UnfoldOptions,
) -> Tensor<B, 3, E> {
    Tensor::of(x.into_raw().unfold4d(kernel_size, options))
}

/// The adjoint of [`unfold4d`]: an image of this height and width, each element of which is the sum of those that the
/// blocks hold of it.
///
/// ```
/// use keyway::module::{UnfoldOptions, fold4d};
/// use keyway::prelude::*;
/// let columns = Tensor::<Flex, 3>::from_array([[[1.0, 2.0], [2.0, 3.0]]], &Default::default());
/// let x = fold4d(columns, [1, 3], [1, 2], UnfoldOptions::default());
/// assert_eq!(x.into_vec()?, [1.0, 4.0, 3.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If these are not the blocks of such an image.
#[track_caller]
pub fn fold4d<B: Backend, E: FloatElement>(
    x: Tensor<B, 3, E>,
    output_size: [usize; 2],
    kernel_size: [usize; 2],
    options: UnfoldOptions,
) -> Tensor<B, 4, E> {
    Tensor::of(x.into_raw().fold4d(output_size, kernel_size, options))
}
