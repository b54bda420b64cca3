use std::collections::HashMap;

use super::Optimizer;
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::raw::Raw;

/// Makes an [`AdamW`] optimizer.
#[derive(Clone, Copy, Debug)]
pub struct AdamWConfig {
    beta_1: f64,
    beta_2: f64,
    epsilon: f64,
    weight_decay: f64,
}

/// Adam with weight decay apart from the gradient (Loshchilov & Hutter 2019), as in PyTorch.
///
/// ```
/// use keyway::nn::Param;
/// use keyway::optim::AdamWConfig;
/// use keyway::prelude::*;
/// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
/// let gradients = (weight.val() * 3.0).sum().backward();
/// AdamWConfig::new().with_weight_decay(0.0).init().step(0.1, &mut weight, &gradients)?;
/// assert!((weight.val().into_scalar()? - 0.9).abs() < 1e-6);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AdamW<B: PlainBackend> {
    config: AdamWConfig,
    moments: HashMap<String, Moments<B>>,
}

/// Running means of the gradient and of its square.
#[derive(Clone, Debug)]
struct Moments<B: PlainBackend> {
    steps: i32,
    first: Raw<B>,
    second: Raw<B>,
}

impl AdamWConfig {
    /// With betas 0.9 and 0.999, ε = 10⁻⁸ and weight decay 0.01.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::AdamWConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 3.0).backward();
    /// AdamWConfig::new().init().step(0.5, &mut weight, &gradients)?;
    /// assert_eq!(format!("{:.3}", weight.val()), "[0.495]");
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn new() -> Self {
        AdamWConfig {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.01,
        }
    }

    /// With another share of the past in the mean of the gradient.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::AdamWConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let mut adam = AdamWConfig::new().with_beta_1(0.0).with_weight_decay(0.0).init();
    /// for gradient in [3.0, -3.0] {
    ///     let gradients = (weight.val() * gradient).backward();
    ///     adam.step(0.5, &mut weight, &gradients)?;
    /// }
    /// assert_eq!(format!("{:.2}", weight.val()), "[1.00]"); // one step there, one back
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_beta_1(self, beta_1: f64) -> Self {
        AdamWConfig { beta_1, ..self }
    }

    /// With another share of the past in the mean of the gradient's square.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::AdamWConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let mut adam = AdamWConfig::new().with_beta_2(0.0).with_weight_decay(0.0).init();
    /// for gradient in [3.0, 1.0] {
    ///     let gradients = (weight.val() * gradient).backward();
    ///     adam.step(0.5, &mut weight, &gradients)?;
    /// }
    /// assert_eq!(format!("{:.2}", weight.val()), "[-0.47]"); // by 0.5, and by 0.5 times the mean 1.95
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_beta_2(self, beta_2: f64) -> Self {
        AdamWConfig { beta_2, ..self }
    }

    /// With another number added to the root of the mean square.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::AdamWConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 3.0).backward();
    /// AdamWConfig::new().with_epsilon(3.0).with_weight_decay(0.0).init().step(0.5, &mut weight, &gradients)?;
    /// assert_eq!(format!("{:.2}", weight.val()), "[0.75]");
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_epsilon(self, epsilon: f64) -> Self {
        AdamWConfig { epsilon, ..self }
    }

    /// With another share of the parameter, times the learning rate, that each step takes away.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::AdamWConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 3.0).backward();
    /// AdamWConfig::new().with_weight_decay(0.5).init().step(0.5, &mut weight, &gradients)?;
    /// assert_eq!(format!("{:.2}", weight.val()), "[0.25]");
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_weight_decay(self, weight_decay: f64) -> Self {
        AdamWConfig { weight_decay, ..self }
    }

    /// The optimizer, for models on `Autodiff<B>`.
    ///
    /// ```
    /// use keyway::optim::{AdamW, AdamWConfig};
    /// use keyway::prelude::*;
    /// let adam: AdamW<Flex> = AdamWConfig::new().init();
    /// ```
    pub fn init<B: PlainBackend>(self) -> AdamW<B> {
        AdamW {
            config: self,
            moments: HashMap::new(),
        }
    }
}

impl Default for AdamWConfig {
    fn default() -> Self {
        AdamWConfig::new()
    }
}

impl<B: PlainBackend> Optimizer<B> for AdamW<B> {
    fn update(&mut self, lr: f64, path: &str, value: Raw<B>, gradient: Raw<B>) -> Result<Raw<B>, Error> {
        let AdamWConfig {
            beta_1,
            beta_2,
            epsilon,
            weight_decay,
        } = self.config;
        let moments = match self.moments.remove(path) {
            Some(moments) => moments,
            None => Moments {
                steps: 0,
                first: gradient.full_like(0.0)?,
                second: gradient.full_like(0.0)?,
            },
        };
        let steps = moments.steps.saturating_add(1);
        let square = gradient.clone().square()?;
        let first = moments.first.mul(beta_1)?.add(gradient.mul(1.0 - beta_1)?)?;
        let second = moments.second.mul(beta_2)?.add(square.mul(1.0 - beta_2)?)?;
        let moments = Moments {
            steps,
            first: first.clone(),
            second: second.clone(),
        };
        self.moments.insert(path.to_owned(), moments);

        // Early means are too small, since they start at 0.
        let scale = (1.0 - beta_2.powi(steps)).sqrt();
        let root = second.sqrt()?.div(scale)?.add(epsilon)?;
        let step = first.div(root)?.mul(-lr / (1.0 - beta_1.powi(steps)))?;
        step.add(value.mul(1.0 - lr * weight_decay)?)
    }
}
