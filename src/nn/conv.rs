use super::{Initializer, Param};
use crate::backend::{Backend, Supports};
use crate::element::FloatElement;
use crate::module;
use crate::module::ConvOptions;
use crate::tensor::Tensor;

/// Makes a [`Conv2d`] layer.
#[derive(Clone, Copy, Debug)]
pub struct Conv2dConfig {
    channels: [usize; 2],
    kernel_size: [usize; 2],
    stride: [usize; 2],
    padding: PaddingConfig2d,
    dilation: [usize; 2],
    groups: usize,
    bias: bool,
    initializer: Initializer,
}

/// Zeros around the height and the width of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaddingConfig2d {
    /// None.
    #[default]
    Valid,
    /// As many as keep the size when the stride is 1; an odd one goes to the end.
    Same,
    /// So many before and after the height, and so many before and after the width.
    Explicit(usize, usize),
}

impl PaddingConfig2d {
    pub(super) fn sides(self, kernel: [usize; 2], dilation: [usize; 2]) -> [(usize, usize); 2] {
        match self {
            PaddingConfig2d::Valid => [(0, 0); 2],
            PaddingConfig2d::Same => [0, 1].map(|i| {
                let total = kernel[i].saturating_sub(1).saturating_mul(dilation[i]);
                (total / 2, total - total / 2)
            }),
            PaddingConfig2d::Explicit(height, width) => [(height, height), (width, width)],
        }
    }
}

/// Two-dimensional convolution.
///
/// ```
/// use keyway::nn::{Conv2d, Conv2dConfig, PaddingConfig2d};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let conv: Conv2d<Flex> = Conv2dConfig::new([1, 16], [3, 3]).with_padding(PaddingConfig2d::Same).init(&device);
/// assert_eq!(conv.forward(Tensor::ones([2, 1, 8, 8], &device)).dims(), [2, 16, 8, 8]);
/// ```
#[derive(Clone, Debug)]
pub struct Conv2d<B: Backend, E: FloatElement = f32> {
    /// `[out, in / groups, kernel height, kernel width]`.
    pub weight: Param<B, 4, E>,
    /// `[out]`.
    pub bias: Option<Param<B, 1, E>>,
    /// How the kernel moves.
    pub options: ConvOptions<2>,
}
module!(Conv2d<E: FloatElement> { weight, bias } const { options });

impl Conv2dConfig {
    /// From channels in to channels out, with stride and dilation 1, no padding, one group, and bias; the parameters are
    /// uniform in `±1/√(in · kernel)`.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig};
    /// use keyway::prelude::*;
    /// let conv: Conv2d<Flex> = Conv2dConfig::new([1, 16], [3, 3]).init(&Default::default());
    /// assert_eq!(conv.weight.val().dims(), [16, 1, 3, 3]);
    /// assert_eq!(conv.forward(Tensor::ones([1, 1, 5, 5], &Default::default())).dims(), [1, 16, 3, 3]);
    /// ```
    pub fn new(channels: [usize; 2], kernel_size: [usize; 2]) -> Self {
        Conv2dConfig {
            channels,
            kernel_size,
            stride: [1; 2],
            padding: PaddingConfig2d::Valid,
            dilation: [1; 2],
            groups: 1,
            bias: true,
            initializer: Initializer::LINEAR,
        }
    }

    /// With another distance between applications, along height and width.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig};
    /// use keyway::prelude::*;
    /// let conv: Conv2d<Flex> = Conv2dConfig::new([1, 16], [3, 3]).with_stride([2, 1]).init(&Default::default());
    /// assert_eq!(conv.forward(Tensor::ones([1, 1, 5, 5], &Default::default())).dims(), [1, 16, 2, 3]);
    /// ```
    pub fn with_stride(self, stride: [usize; 2]) -> Self {
        Conv2dConfig { stride, ..self }
    }

    /// With padding: zeros around the input.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig, PaddingConfig2d};
    /// use keyway::prelude::*;
    /// let conv: Conv2d<Flex> = Conv2dConfig::new([1, 16], [3, 3]).with_padding(PaddingConfig2d::Explicit(1, 0)).init(&Default::default());
    /// assert_eq!(conv.forward(Tensor::ones([1, 1, 5, 5], &Default::default())).dims(), [1, 16, 5, 3]);
    /// ```
    pub fn with_padding(self, padding: PaddingConfig2d) -> Self {
        Conv2dConfig { padding, ..self }
    }

    /// With another distance between the kernel's elements, along height and width.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig};
    /// use keyway::prelude::*;
    /// let conv: Conv2d<Flex> = Conv2dConfig::new([1, 16], [3, 3]).with_dilation([2, 1]).init(&Default::default());
    /// assert_eq!(conv.forward(Tensor::ones([1, 1, 5, 5], &Default::default())).dims(), [1, 16, 1, 3]);
    /// ```
    pub fn with_dilation(self, dilation: [usize; 2]) -> Self {
        Conv2dConfig { dilation, ..self }
    }

    /// With channels that fall into independent groups; both numbers of channels must be multiples of theirs.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig};
    /// use keyway::prelude::*;
    /// let conv: Conv2d<Flex> = Conv2dConfig::new([4, 8], [3, 3]).with_groups(2).init(&Default::default());
    /// assert_eq!(conv.weight.val().dims(), [8, 2, 3, 3]);
    /// ```
    pub fn with_groups(self, groups: usize) -> Self {
        Conv2dConfig { groups, ..self }
    }

    /// With or without bias.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig};
    /// use keyway::prelude::*;
    /// let conv: Conv2d<Flex> = Conv2dConfig::new([1, 16], [3, 3]).with_bias(false).init(&Default::default());
    /// assert!(conv.bias.is_none());
    /// ```
    pub fn with_bias(self, bias: bool) -> Self {
        Conv2dConfig { bias, ..self }
    }

    /// With parameters, the bias among them, that start with other values.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig, Initializer};
    /// use keyway::prelude::*;
    /// let conv: Conv2d<Flex> = Conv2dConfig::new([1, 1], [1, 2]).with_initializer(Initializer::Constant(0.5)).init(&Default::default());
    /// assert_eq!(conv.weight.val().into_vec()?, [0.5, 0.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_initializer(self, initializer: Initializer) -> Self {
        Conv2dConfig { initializer, ..self }
    }

    /// The layer on a device; on a backend that records gradients, its parameters are leaves.
    ///
    /// ```
    /// use keyway::nn::Conv2dConfig;
    /// use keyway::prelude::*;
    /// let conv = Conv2dConfig::new([1, 16], [3, 3]).init::<Autodiff<Flex>, f32>(&Default::default());
    /// assert!(conv.weight.val().is_require_grad());
    /// ```
    ///
    /// # Panics
    /// If the groups do not divide the channels, or the device fails.
    #[track_caller]
    pub fn init<B: Backend + Supports<E>, E: FloatElement>(self, device: &B::Device) -> Conv2d<B, E> {
        let ([inputs, outputs], [height, width]) = (self.channels, self.kernel_size);
        let divides = |channels: usize| self.groups > 0 && channels.is_multiple_of(self.groups);
        assert!(
            divides(inputs) && divides(outputs),
            "conv2d: {} groups do not divide {inputs} channels in and {outputs} out",
            self.groups
        );
        let taps = height.saturating_mul(width); // too large ones are refused as a shape
        let fans = [inputs, outputs].map(|channels| (channels / self.groups).saturating_mul(taps));
        let shape = [outputs, inputs / self.groups, height, width];
        Conv2d {
            weight: self.initializer.init(shape, fans, device),
            bias: self.bias.then(|| self.initializer.init([outputs], fans, device)),
            options: ConvOptions {
                stride: self.stride,
                padding: self.padding.sides(self.kernel_size, self.dilation),
                dilation: self.dilation,
                groups: self.groups,
            },
        }
    }
}

impl<B: Backend, E: FloatElement> Conv2d<B, E> {
    /// [`conv2d`](module::conv2d) with the parameters: `[batch, in, height, width]` to `[batch, out, height, width]`.
    ///
    /// ```
    /// use keyway::nn::{Conv2d, Conv2dConfig, Initializer};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let config = Conv2dConfig::new([1, 1], [2, 2]).with_initializer(Initializer::Constant(1.0));
    /// let conv: Conv2d<Flex> = config.init(&device);
    /// assert_eq!(conv.forward(Tensor::ones([1, 1, 2, 2], &device)).into_vec()?, [5.0]); // four and the bias
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are other channels, or the kernel is larger than the padded input.
    #[track_caller]
    pub fn forward(&self, x: Tensor<B, 4, E>) -> Tensor<B, 4, E> {
        let bias = self.bias.as_ref().map(Param::val);
        module::conv2d(x, self.weight.val(), bias, self.options)
    }
}
