use std::collections::HashMap;

use super::Optimizer;
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::raw::Raw;

/// Makes an [`Sgd`] optimizer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SgdConfig {
    momentum: f64,
    dampening: f64,
    nesterov: bool,
    weight_decay: f64,
}

/// Stochastic gradient descent, with the momentum of PyTorch: `v ← momentum · v + (1 - dampening) · g`, and
/// `x ← x - lr · v`; the first `v` is `g`.
#[derive(Clone, Debug)]
pub struct Sgd<B: PlainBackend> {
    config: SgdConfig,
    velocities: HashMap<String, Raw<B>>,
}

impl SgdConfig {
    /// Without momentum and weight decay.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::SgdConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 2.0).backward();
    /// SgdConfig::new().init().step(0.5, &mut weight, &gradients)?;
    /// assert_eq!(weight.val().into_vec()?, [0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn new() -> Self {
        SgdConfig::default()
    }

    /// With momentum: the share of the last step that enters the next.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::SgdConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 2.0).backward();
    /// let mut optimizer = SgdConfig::new().with_momentum(0.5).init();
    /// for _ in 0..2 {
    ///     optimizer.step(0.5, &mut weight, &gradients)?;
    /// }
    /// assert_eq!(weight.val().into_vec()?, [-1.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_momentum(self, momentum: f64) -> Self {
        SgdConfig { momentum, ..self }
    }

    /// With a share of each gradient but the first that does not enter the momentum.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::SgdConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 2.0).backward();
    /// let mut optimizer = SgdConfig::new().with_momentum(0.5).with_dampening(0.5).init();
    /// for _ in 0..2 {
    ///     optimizer.step(0.5, &mut weight, &gradients)?;
    /// }
    /// assert_eq!(weight.val().into_vec()?, [-1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_dampening(self, dampening: f64) -> Self {
        SgdConfig { dampening, ..self }
    }

    /// With the momentum of Nesterov, which steps by `g + momentum · v`.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::SgdConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 2.0).backward();
    /// SgdConfig::new().with_momentum(0.5).with_nesterov(true).init().step(0.5, &mut weight, &gradients)?;
    /// assert_eq!(weight.val().into_vec()?, [-0.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_nesterov(self, nesterov: bool) -> Self {
        SgdConfig { nesterov, ..self }
    }

    /// With a share of the parameter that is added to its gradient.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::SgdConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 2.0).backward();
    /// SgdConfig::new().with_weight_decay(0.5).init().step(0.5, &mut weight, &gradients)?;
    /// assert_eq!(weight.val().into_vec()?, [-0.25]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_weight_decay(self, weight_decay: f64) -> Self {
        SgdConfig { weight_decay, ..self }
    }

    /// The optimizer, for models on `Autodiff<B>`.
    ///
    /// ```
    /// use keyway::optim::{Sgd, SgdConfig};
    /// use keyway::prelude::*;
    /// let sgd: Sgd<Flex> = SgdConfig::new().with_momentum(0.9).init();
    /// ```
    pub fn init<B: PlainBackend>(self) -> Sgd<B> {
        Sgd {
            config: self,
            velocities: HashMap::new(),
        }
    }
}

impl<B: PlainBackend> Optimizer<B> for Sgd<B> {
    fn update(&mut self, lr: f64, path: &str, value: Raw<B>, gradient: Raw<B>) -> Result<Raw<B>, Error> {
        let SgdConfig {
            momentum,
            dampening,
            nesterov,
            weight_decay,
        } = self.config;
        let mut step = gradient;
        if weight_decay != 0.0 {
            step = value.clone().mul(weight_decay)?.add(step)?;
        }
        if momentum != 0.0 {
            let velocity = match self.velocities.remove(path) {
                Some(velocity) => velocity.mul(momentum)?.add(step.clone().mul(1.0 - dampening)?)?,
                None => step.clone(),
            };
            self.velocities.insert(path.to_owned(), velocity.clone());
            step = match nesterov {
                true => velocity.mul(momentum)?.add(step)?,
                false => velocity,
            };
        }
        step.mul(-lr)?.add(value)
    }
}
