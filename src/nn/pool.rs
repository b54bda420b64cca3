use super::PaddingConfig2d;
use super::containers::without_tensors;
use crate::backend::Backend;
use crate::element::FloatElement;
use crate::module::{AvgPoolOptions, MaxPoolOptions, avg_pool2d, max_pool2d};
use crate::tensor::Tensor;

/// Makes a [`MaxPool2d`] layer.
#[derive(Clone, Copy, Debug)]
pub struct MaxPool2dConfig {
    kernel_size: [usize; 2],
    stride: [usize; 2],
    padding: PaddingConfig2d,
    dilation: [usize; 2],
    ceil_mode: bool,
}

/// The greatest element of each window.
///
/// ```
/// use keyway::nn::MaxPool2dConfig;
/// use keyway::prelude::*;
/// let pool = MaxPool2dConfig::new([2, 2]).init();
/// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0], [4.0, 3.0]]]], &Default::default());
/// assert_eq!(pool.forward(x).into_vec()?, [4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MaxPool2d {
    options: MaxPoolOptions<2>,
}

/// Makes an [`AvgPool2d`] layer.
#[derive(Clone, Copy, Debug)]
pub struct AvgPool2dConfig {
    kernel_size: [usize; 2],
    stride: [usize; 2],
    padding: PaddingConfig2d,
    count_include_pad: bool,
    ceil_mode: bool,
}

/// The mean of each window.
///
/// ```
/// use keyway::nn::AvgPool2dConfig;
/// use keyway::prelude::*;
/// let pool = AvgPool2dConfig::new([2, 2]).init();
/// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0], [4.0, 3.0]]]], &Default::default());
/// assert_eq!(pool.forward(x).into_vec()?, [2.5]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AvgPool2d {
    options: AvgPoolOptions<2>,
}

impl MaxPool2dConfig {
    /// Windows of this size side by side, without padding.
    ///
    /// ```
    /// use keyway::nn::MaxPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// assert_eq!(MaxPool2dConfig::new([2, 3]).init().forward(x).dims(), [1, 1, 3, 2]);
    /// ```
    pub fn new(kernel_size: [usize; 2]) -> Self {
        MaxPool2dConfig {
            kernel_size,
            stride: kernel_size,
            padding: PaddingConfig2d::Valid,
            dilation: [1; 2],
            ceil_mode: false,
        }
    }

    /// With another distance between windows, along height and width.
    ///
    /// ```
    /// use keyway::nn::MaxPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// assert_eq!(MaxPool2dConfig::new([2, 2]).with_strides([1, 4]).init().forward(x).dims(), [1, 1, 5, 2]);
    /// ```
    pub fn with_strides(self, stride: [usize; 2]) -> Self {
        MaxPool2dConfig { stride, ..self }
    }

    /// With padding, which is never the greatest.
    ///
    /// ```
    /// use keyway::nn::{MaxPool2dConfig, PaddingConfig2d};
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// let pool = MaxPool2dConfig::new([3, 3]).with_strides([1, 1]).with_padding(PaddingConfig2d::Same).init();
    /// assert_eq!(pool.forward(x).dims(), [1, 1, 6, 6]);
    /// ```
    pub fn with_padding(self, padding: PaddingConfig2d) -> Self {
        MaxPool2dConfig { padding, ..self }
    }

    /// With another distance between a window's elements, along height and width.
    ///
    /// ```
    /// use keyway::nn::MaxPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// let pool = MaxPool2dConfig::new([2, 2]).with_strides([1, 1]).with_dilation([4, 1]).init();
    /// assert_eq!(pool.forward(x).dims(), [1, 1, 2, 5]);
    /// ```
    pub fn with_dilation(self, dilation: [usize; 2]) -> Self {
        MaxPool2dConfig { dilation, ..self }
    }

    /// With or without a last window that overhangs the padded input, where it starts in the input or in the padding before
    /// it.
    ///
    /// ```
    /// use keyway::nn::MaxPool2dConfig;
    /// use keyway::prelude::*;
    /// let pool = MaxPool2dConfig::new([2, 2]).with_ceil_mode(true).init();
    /// assert_eq!(pool.forward(Tensor::<Flex, 4>::ones([1, 1, 3, 4], &Default::default())).dims(), [1, 1, 2, 2]);
    /// ```
    pub fn with_ceil_mode(self, ceil_mode: bool) -> Self {
        MaxPool2dConfig { ceil_mode, ..self }
    }

    /// The layer.
    ///
    /// ```
    /// use keyway::nn::MaxPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// let pool = MaxPool2dConfig::new([2, 2]).init();
    /// assert_eq!(pool.forward(x).dims(), [1, 1, 3, 3]);
    /// ```
    pub fn init(self) -> MaxPool2d {
        let padding = self.padding.sides(self.kernel_size, self.dilation);
        MaxPool2d {
            options: MaxPoolOptions::new(self.kernel_size)
                .with_stride(self.stride)
                .with_padding_pairs(padding)
                .with_dilation(self.dilation)
                .with_ceil_mode(self.ceil_mode),
        }
    }
}

impl AvgPool2dConfig {
    /// Windows of this size side by side, without padding.
    ///
    /// ```
    /// use keyway::nn::AvgPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// assert_eq!(AvgPool2dConfig::new([2, 3]).init().forward(x).dims(), [1, 1, 3, 2]);
    /// ```
    pub fn new(kernel_size: [usize; 2]) -> Self {
        AvgPool2dConfig {
            kernel_size,
            stride: kernel_size,
            padding: PaddingConfig2d::Valid,
            count_include_pad: true,
            ceil_mode: false,
        }
    }

    /// With another distance between windows, along height and width.
    ///
    /// ```
    /// use keyway::nn::AvgPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// assert_eq!(AvgPool2dConfig::new([2, 2]).with_strides([1, 4]).init().forward(x).dims(), [1, 1, 5, 2]);
    /// ```
    pub fn with_strides(self, stride: [usize; 2]) -> Self {
        AvgPool2dConfig { stride, ..self }
    }

    /// With padding.
    ///
    /// ```
    /// use keyway::nn::{AvgPool2dConfig, PaddingConfig2d};
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// let pool = AvgPool2dConfig::new([3, 3]).with_strides([1, 1]).with_padding(PaddingConfig2d::Same).init();
    /// assert_eq!(pool.forward(x).dims(), [1, 1, 6, 6]);
    /// ```
    pub fn with_padding(self, padding: PaddingConfig2d) -> Self {
        AvgPool2dConfig { padding, ..self }
    }

    /// Whether padding counts as zeros of a mean, as it does by default, or not at all.
    ///
    /// ```
    /// use keyway::nn::{AvgPool2dConfig, PaddingConfig2d};
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 1, 1], &Default::default());
    /// let pool = AvgPool2dConfig::new([1, 2]).with_padding(PaddingConfig2d::Same);
    /// assert_eq!(pool.init().forward(x.clone()).into_vec()?, [0.5]);
    /// assert_eq!(pool.with_count_include_pad(false).init().forward(x).into_vec()?, [1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_count_include_pad(self, count_include_pad: bool) -> Self {
        AvgPool2dConfig {
            count_include_pad,
            ..self
        }
    }

    /// With or without a last window that overhangs the padded input, where it starts in the input or in the padding before
    /// it.
    ///
    /// ```
    /// use keyway::nn::AvgPool2dConfig;
    /// use keyway::prelude::*;
    /// let pool = AvgPool2dConfig::new([2, 2]).with_ceil_mode(true).init();
    /// assert_eq!(pool.forward(Tensor::<Flex, 4>::ones([1, 1, 3, 4], &Default::default())).dims(), [1, 1, 2, 2]);
    /// ```
    pub fn with_ceil_mode(self, ceil_mode: bool) -> Self {
        AvgPool2dConfig { ceil_mode, ..self }
    }

    /// The layer.
    ///
    /// ```
    /// use keyway::nn::AvgPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::ones([1, 1, 6, 6], &Default::default());
    /// let pool = AvgPool2dConfig::new([2, 2]).init();
    /// assert_eq!(pool.forward(x).dims(), [1, 1, 3, 3]);
    /// ```
    pub fn init(self) -> AvgPool2d {
        let padding = self.padding.sides(self.kernel_size, [1; 2]);
        AvgPool2d {
            options: AvgPoolOptions::new(self.kernel_size)
                .with_stride(self.stride)
                .with_padding_pairs(padding)
                .with_count_include_pad(self.count_include_pad)
                .with_ceil_mode(self.ceil_mode),
        }
    }
}

impl MaxPool2d {
    /// `[batch, channels, height, width]` to the same with smaller height and width.
    ///
    /// ```
    /// use keyway::nn::MaxPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0, 5.0, 7.0]]]], &Default::default());
    /// assert_eq!(MaxPool2dConfig::new([1, 2]).init().forward(x).into_vec()?, [2.0, 7.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a window is larger than the padded input, or lies in the padding.
    #[track_caller]
    pub fn forward<B: Backend, E: FloatElement>(&self, x: Tensor<B, 4, E>) -> Tensor<B, 4, E> {
        max_pool2d(x, self.options)
    }
}

impl AvgPool2d {
    /// `[batch, channels, height, width]` to the same with smaller height and width.
    ///
    /// ```
    /// use keyway::nn::AvgPool2dConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0, 5.0, 7.0]]]], &Default::default());
    /// assert_eq!(AvgPool2dConfig::new([1, 2]).init().forward(x).into_vec()?, [1.5, 6.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a window is larger than the padded input.
    #[track_caller]
    pub fn forward<B: Backend, E: FloatElement>(&self, x: Tensor<B, 4, E>) -> Tensor<B, 4, E> {
        avg_pool2d(x, self.options)
    }
}

without_tensors!(MaxPool2d AvgPool2d);
