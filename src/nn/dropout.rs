use super::containers::without_tensors;
use crate::backend::Backend;
use crate::element::FloatElement;
use crate::raw::Distribution;
use crate::tensor::Tensor;

/// Makes a [`Dropout`] layer.
#[derive(Clone, Copy, Debug)]
pub struct DropoutConfig {
    prob: f64,
}

/// On a backend that trains, sets each element to 0 with some probability, and scales the others so that the mean stays
/// (Srivastava et al. 2014). On others it does nothing.
///
/// ```
/// use keyway::nn::DropoutConfig;
/// use keyway::prelude::*;
/// let dropout = DropoutConfig::new(0.5).init();
/// let x = Tensor::<Autodiff<Flex>, 1>::ones([100], &Default::default());
/// let dropped = dropout.forward(x.clone()).into_vec()?;
/// assert!(dropped.iter().all(|&x| x == 0.0 || x == 2.0));
/// assert_eq!(dropout.forward(x.inner()).into_vec()?, [1.0; 100]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    /// The probability with which an element is dropped.
    pub prob: f64,
}

impl DropoutConfig {
    /// Drops with this probability.
    ///
    /// ```
    /// use keyway::nn::DropoutConfig;
    /// use keyway::prelude::*;
    /// assert_eq!(DropoutConfig::new(0.1).init().prob, 0.1);
    /// ```
    pub fn new(prob: f64) -> Self {
        DropoutConfig { prob }
    }

    /// The layer.
    ///
    /// ```
    /// use keyway::nn::DropoutConfig;
    /// use keyway::prelude::*;
    /// assert_eq!(DropoutConfig::new(1.0).init().prob, 1.0); // drops everything
    /// ```
    ///
    /// # Panics
    /// If the probability is not in `0..=1`.
    #[track_caller]
    pub fn init(self) -> Dropout {
        assert!(
            (0.0..=1.0).contains(&self.prob),
            "dropout: {} is not a probability",
            self.prob
        );
        Dropout { prob: self.prob }
    }
}

impl Dropout {
    /// The input, where a backend that trains sets some elements to 0 and multiplies the others by `1 / (1 - prob)`.
    ///
    /// ```
    /// use keyway::nn::DropoutConfig;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Autodiff<Flex>, 1>::ones([3], &Default::default());
    /// assert_eq!(DropoutConfig::new(1.0).init().forward(x.clone()).into_vec()?, [0.0; 3]);
    /// assert_eq!(DropoutConfig::new(1.0).init().forward(x.inner()).into_vec()?, [1.0; 3]); // no training
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn forward<B: Backend, const D: usize, E: FloatElement>(
        &self,
        x: Tensor<B, D, E>,
    ) -> Tensor<B, D, E> {
        if !B::TRAINS || self.prob == 0.0 {
            return x;
        }
        let keep = 1.0 - self.prob;
        let mask = x.random_like(Distribution::Bernoulli(keep));
        // If nothing is kept there is nothing to scale.
        let scale = if keep > 0.0 { 1.0 / keep } else { 1.0 };
        x * (mask * scale)
    }
}

without_tensors!(Dropout);
