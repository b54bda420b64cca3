use super::{Buffer, Initializer, Param};
use crate::backend::{Backend, Supports};
use crate::element::FloatElement;
use crate::error::Error;
use crate::module;
use crate::raw::Raw;
use crate::tensor::Tensor;

/// Makes a [`LayerNorm`] layer.
#[derive(Clone, Copy, Debug)]
pub struct LayerNormConfig {
    width: usize,
    epsilon: f64,
    bias: bool,
}

/// `(x - mean) / √(var + ε) · weight + bias` over the last axis (Ba et al. 2016).
///
/// ```
/// use keyway::nn::{LayerNorm, LayerNormConfig};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let norm: LayerNorm<Flex> = LayerNormConfig::new(2).init(&device);
/// let y = norm.forward(Tensor::<Flex, 2>::from_array([[1.0, 3.0], [8.0, 4.0]], &device));
/// assert_eq!(y.round().into_vec()?, [-1.0, 1.0, 1.0, -1.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LayerNorm<B: Backend, E: FloatElement = f32> {
    /// `[width]`.
    pub weight: Param<B, 1, E>,
    /// `[width]`.
    pub bias: Option<Param<B, 1, E>>,
    /// What is added to the variance.
    pub epsilon: f64,
}
module!(LayerNorm<E: FloatElement> { weight, bias } const { epsilon });

impl LayerNormConfig {
    /// A layer for a last axis of this size, with ε = 10⁻⁵, weights 1 and biases 0.
    ///
    /// ```
    /// use keyway::nn::{LayerNorm, LayerNormConfig};
    /// use keyway::prelude::*;
    /// let norm: LayerNorm<Flex> = LayerNormConfig::new(2).init(&Default::default());
    /// assert_eq!((norm.weight.val().into_vec()?, norm.epsilon), (vec![1.0, 1.0], 1e-5));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn new(width: usize) -> Self {
        LayerNormConfig {
            width,
            epsilon: 1e-5,
            bias: true,
        }
    }

    /// With another ε.
    ///
    /// ```
    /// use keyway::nn::{LayerNorm, LayerNormConfig};
    /// use keyway::prelude::*;
    /// let norm: LayerNorm<Flex> = LayerNormConfig::new(2).with_epsilon(1e-3).init(&Default::default());
    /// assert_eq!(norm.epsilon, 1e-3);
    /// ```
    pub fn with_epsilon(self, epsilon: f64) -> Self {
        LayerNormConfig { epsilon, ..self }
    }

    /// With or without bias.
    ///
    /// ```
    /// use keyway::nn::{LayerNorm, LayerNormConfig};
    /// use keyway::prelude::*;
    /// let norm: LayerNorm<Flex> = LayerNormConfig::new(2).with_bias(false).init(&Default::default());
    /// assert!(norm.bias.is_none());
    /// ```
    pub fn with_bias(self, bias: bool) -> Self {
        LayerNormConfig { bias, ..self }
    }

    /// The layer on a device; on a backend that records gradients, its parameters are leaves.
    ///
    /// ```
    /// use keyway::nn::LayerNormConfig;
    /// use keyway::prelude::*;
    /// let norm = LayerNormConfig::new(2).init::<Autodiff<Flex>, f32>(&Default::default());
    /// assert!(norm.weight.val().is_require_grad());
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn init<B: Backend + Supports<E>, E: FloatElement>(self, device: &B::Device) -> LayerNorm<B, E> {
        LayerNorm {
            weight: constant(self.width, 1.0, device),
            bias: self.bias.then(|| constant(self.width, 0.0, device)),
            epsilon: self.epsilon,
        }
    }
}

impl<B: Backend, E: FloatElement> LayerNorm<B, E> {
    /// [`layer_norm`](module::layer_norm) with the parameters: `[…, width]` to the same shape.
    ///
    /// ```
    /// use keyway::nn::{LayerNorm, LayerNormConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let norm: LayerNorm<Flex> = LayerNormConfig::new(2).with_epsilon(0.0).init(&device);
    /// assert_eq!(norm.forward(Tensor::from_array([8.0, 4.0], &device)).into_vec()?, [1.0, -1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the last axis has another size.
    #[track_caller]
    pub fn forward<const D: usize>(&self, x: Tensor<B, D, E>) -> Tensor<B, D, E> {
        let bias = self.bias.as_ref().map(Param::val);
        module::layer_norm(x, Some(self.weight.val()), bias, self.epsilon)
    }
}

/// Makes a [`BatchNorm`] layer.
#[derive(Clone, Copy, Debug)]
pub struct BatchNormConfig {
    channels: usize,
    epsilon: f64,
    momentum: f64,
}

/// `(x - mean) / √(var + ε) · weight + bias` for each channel (Ioffe & Szegedy 2015).
///
/// On a backend that trains, mean and variance are those of the batch, and the running ones move towards them; elsewhere
/// the running ones serve. `forward` takes `&self`: the running statistics are [`Buffer`]s. Replicas of a group each
/// measure their own share.
///
/// ```
/// use keyway::nn::{BatchNorm, BatchNormConfig, Module};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let norm: BatchNorm<Autodiff<Flex>> = BatchNormConfig::new(1).init(&device);
/// norm.forward(Tensor::from_array([[3.0], [5.0]], &device));
/// assert_eq!(norm.running_mean.val().into_vec()?, [0.4]);
/// assert_eq!(norm.valid().running_mean.val().into_vec()?, [0.4]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchNorm<B: Backend, E: FloatElement = f32> {
    /// `[channels]`.
    pub weight: Param<B, 1, E>,
    /// `[channels]`.
    pub bias: Param<B, 1, E>,
    /// The mean of each channel.
    pub running_mean: Buffer<B, 1, E>,
    /// The unbiased variance of each channel.
    pub running_var: Buffer<B, 1, E>,
    /// What is added to the variance.
    pub epsilon: f64,
    /// The share of a batch in the running statistics.
    pub momentum: f64,
}
module!(BatchNorm<E: FloatElement> { weight, bias, running_mean, running_var } const { epsilon, momentum });

impl BatchNormConfig {
    /// A layer for so many channels, with ε = 10⁻⁵, momentum 0.1, weights 1 and biases 0.
    ///
    /// ```
    /// use keyway::nn::{BatchNorm, BatchNormConfig};
    /// use keyway::prelude::*;
    /// let norm: BatchNorm<Flex> = BatchNormConfig::new(2).init(&Default::default());
    /// assert_eq!((norm.running_mean.val().into_vec()?, norm.momentum), (vec![0.0, 0.0], 0.1));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn new(channels: usize) -> Self {
        BatchNormConfig {
            channels,
            epsilon: 1e-5,
            momentum: 0.1,
        }
    }

    /// With another ε.
    ///
    /// ```
    /// use keyway::nn::{BatchNorm, BatchNormConfig};
    /// use keyway::prelude::*;
    /// let norm: BatchNorm<Flex> = BatchNormConfig::new(2).with_epsilon(1e-3).init(&Default::default());
    /// assert_eq!(norm.epsilon, 1e-3);
    /// ```
    pub fn with_epsilon(self, epsilon: f64) -> Self {
        BatchNormConfig { epsilon, ..self }
    }

    /// With another share of a batch in the running statistics: `(1 - momentum) · running + momentum · batch`.
    ///
    /// ```
    /// use keyway::nn::{BatchNorm, BatchNormConfig};
    /// use keyway::prelude::*;
    /// let norm: BatchNorm<Flex> = BatchNormConfig::new(2).with_momentum(0.5).init(&Default::default());
    /// assert_eq!(norm.momentum, 0.5);
    /// ```
    pub fn with_momentum(self, momentum: f64) -> Self {
        BatchNormConfig { momentum, ..self }
    }

    /// The layer on a device; on a backend that records gradients, its parameters are leaves.
    ///
    /// ```
    /// use keyway::nn::BatchNormConfig;
    /// use keyway::prelude::*;
    /// let norm = BatchNormConfig::new(2).init::<Autodiff<Flex>, f32>(&Default::default());
    /// assert!(norm.weight.val().is_require_grad());
    /// assert!(!norm.running_mean.val().is_require_grad());
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn init<B: Backend + Supports<E>, E: FloatElement>(self, device: &B::Device) -> BatchNorm<B, E> {
        BatchNorm {
            weight: constant(self.channels, 1.0, device),
            bias: constant(self.channels, 0.0, device),
            running_mean: Buffer::new(Tensor::zeros([self.channels], device)),
            running_var: Buffer::new(Tensor::ones([self.channels], device)),
            epsilon: self.epsilon,
            momentum: self.momentum,
        }
    }
}

impl<B: Backend, E: FloatElement> BatchNorm<B, E> {
    /// `[batch, channels, …]`, of any rank from 2 on, to the same shape.
    ///
    /// ```
    /// use keyway::nn::BatchNormConfig;
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let norm = BatchNormConfig::new(1).with_epsilon(0.0).init::<Autodiff<Flex>, f32>(&device);
    /// let x = Tensor::from_array([[[[3.0, 5.0]]]], &device);
    /// assert_eq!(norm.forward(x.clone()).into_vec()?, [-1.0, 1.0]); // by the statistics of the batch
    /// assert_eq!(norm.running_mean.val().into_vec()?, [0.4]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are other channels, or, while training, if there is but one value for each channel.
    #[track_caller]
    pub fn forward<const D: usize>(&self, x: Tensor<B, D, E>) -> Tensor<B, D, E> {
        const { assert!(D >= 2, "`BatchNorm` needs batch and channels: rank 2 or more") }
        Tensor::of(self.normalize(x.into_raw()))
    }

    fn normalize(&self, x: Raw<B>) -> Result<Raw<B>, Error> {
        let [weight, bias] = [&self.weight, &self.bias].map(|p| p.val().into_raw());
        if !B::TRAINS {
            let [mean, var] = [&self.running_mean, &self.running_var].map(|buffer| buffer.val().into_raw());
            return x.batch_norm(weight, bias, mean, var, self.epsilon);
        }
        let n = x.shape().num_elements() / x.shape()[1].max(1);
        if n < 2 {
            let message = "training needs more than one value for each channel";
            return Err(Error::shape("batch_norm", &[x.shape()], message));
        }
        let (y, mean, var) = x.batch_norm_wide(weight, bias, self.epsilon)?;
        self.follow(&self.running_mean, mean)?;
        self.follow(&self.running_var, var.mul(n as f64 / (n - 1) as f64)?)?;
        Ok(y)
    }

    /// Moves a running statistic towards that of a batch.
    fn follow(&self, running: &Buffer<B, 1, E>, batch: Raw<B>) -> Result<(), Error> {
        let share = self.momentum;
        let batch = batch.mul(share)?;
        running.try_update(|old| {
            let old = old.into_raw().cast(batch.dtype())?.mul(1.0 - share)?;
            Tensor::try_from_raw(old.add(batch.clone())?.cast(E::DTYPE)?)
        })
    }
}

#[track_caller]
fn constant<B: Backend + Supports<E>, E: FloatElement>(
    len: usize,
    value: f64,
    device: &B::Device,
) -> Param<B, 1, E> {
    Initializer::Constant(value).init([len], [len; 2], device)
}
