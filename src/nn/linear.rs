use super::module::{Mapper, Module, Visitor};
use super::{Initializer, Param};
use crate::backend::{Backend, Supports};
use crate::element::FloatElement;
use crate::error::Error;
use crate::module;
use crate::tensor::Tensor;

/// Makes a [`Linear`] layer.
#[derive(Clone, Copy, Debug)]
pub struct LinearConfig {
    inputs: usize,
    outputs: usize,
    bias: bool,
    initializer: Initializer,
}

/// `x w + b` over the last axis.
///
/// ```
/// use keyway::nn::{Linear, LinearConfig};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let linear: Linear<Flex> = LinearConfig::new(3, 1).init(&device);
/// assert_eq!(linear.forward(Tensor::<Flex, 1>::ones([3], &device)).dims(), [1]);
/// assert_eq!(linear.forward(Tensor::<Flex, 3>::ones([4, 2, 3], &device)).dims(), [4, 2, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct Linear<B: Backend, E: FloatElement = f32> {
    /// `[inputs, outputs]`; PyTorch holds the transpose.
    pub weight: Param<B, 2, E>,
    /// `[outputs]`.
    pub bias: Option<Param<B, 1, E>>,
}

impl LinearConfig {
    /// A layer with bias, whose parameters are uniform in `±1/√inputs`.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let linear: Linear<Flex> = LinearConfig::new(3, 2).init(&Default::default());
    /// assert_eq!(linear.weight.val().dims(), [3, 2]);
    /// assert_eq!(linear.bias.unwrap().val().dims(), [2]);
    /// ```
    pub fn new(inputs: usize, outputs: usize) -> Self {
        LinearConfig {
            inputs,
            outputs,
            bias: true,
            initializer: Initializer::LINEAR,
        }
    }

    /// With or without bias.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let linear: Linear<Flex> = LinearConfig::new(3, 2).with_bias(false).init(&Default::default());
    /// assert!(linear.bias.is_none());
    /// ```
    pub fn with_bias(self, bias: bool) -> Self {
        LinearConfig { bias, ..self }
    }

    /// With parameters, the bias among them, that start with other values.
    ///
    /// ```
    /// use keyway::nn::{Initializer, Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let config = LinearConfig::new(2, 1).with_initializer(Initializer::Constant(0.5));
    /// let linear: Linear<Flex> = config.init(&Default::default());
    /// assert_eq!(linear.weight.val().into_vec()?, [0.5, 0.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_initializer(self, initializer: Initializer) -> Self {
        LinearConfig { initializer, ..self }
    }

    /// The layer on a device; on a backend that records gradients, its parameters are leaves.
    ///
    /// ```
    /// use keyway::nn::LinearConfig;
    /// use keyway::prelude::*;
    /// let linear = LinearConfig::new(3, 2).init::<Autodiff<Flex>, f32>(&Default::default());
    /// assert!(linear.weight.val().is_require_grad());
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn init<B: Backend + Supports<E>, E: FloatElement>(self, device: &B::Device) -> Linear<B, E> {
        let fans = [self.inputs, self.outputs];
        Linear {
            weight: self.initializer.init(fans, fans, device),
            bias: self
                .bias
                .then(|| self.initializer.init([self.outputs], fans, device)),
        }
    }
}

impl<B: Backend, E: FloatElement> Linear<B, E> {
    /// [`linear`](module::linear) with the parameters: `[…, inputs]` to `[…, outputs]`.
    ///
    /// ```
    /// use keyway::nn::{Linear, Param};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let weight = Param::new(Tensor::<Flex, 2>::from_array([[1.0], [10.0]], &device));
    /// let linear = Linear { weight, bias: Some(Param::new(Tensor::from_array([0.5], &device))) };
    /// assert_eq!(linear.forward(Tensor::from_array([2.0, 3.0], &device)).into_vec()?, [32.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the last axis has another size.
    #[track_caller]
    pub fn forward<const D: usize>(&self, x: Tensor<B, D, E>) -> Tensor<B, D, E> {
        module::linear(x, self.weight.val(), self.bias.as_ref().map(Param::val))
    }
}

impl<B: Backend, E: FloatElement> Module<B> for Linear<B, E> {
    type On<B2: Backend> = Linear<B2, E>;

    fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error> {
        visitor.transposed_field("weight", &mut self.weight)?;
        visitor.field("bias", &mut self.bias)
    }

    fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Linear<B2, E>, Error> {
        Ok(Linear {
            weight: mapper.transposed_field("weight", &self.weight)?,
            bias: mapper.field("bias", &self.bias)?,
        })
    }
}
