use super::{Initializer, Param};
use crate::backend::{Backend, Supports};
use crate::element::{FloatElement, IntElement};
use crate::module;
use crate::tensor::Tensor;

/// Makes an [`Embedding`] layer.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddingConfig {
    entries: usize,
    width: usize,
    initializer: Initializer,
}

/// A vector for each of a number of entries.
///
/// ```
/// use keyway::nn::{Embedding, EmbeddingConfig};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let embedding: Embedding<Flex> = EmbeddingConfig::new(10, 4).init(&device);
/// let words = Tensor::<Flex, 2, i32>::from_array([[1, 2, 3], [9, 9, 0]], &device);
/// let vectors: Tensor<Flex, 3> = embedding.forward(words);
/// assert_eq!(vectors.dims(), [2, 3, 4]);
/// ```
#[derive(Clone, Debug)]
pub struct Embedding<B: Backend, E: FloatElement = f32> {
    /// `[entries, width]`.
    pub weight: Param<B, 2, E>,
}
module!(Embedding<E: FloatElement> { weight });

impl EmbeddingConfig {
    /// A layer of so many entries with vectors of this width, drawn from the standard normal distribution.
    ///
    /// ```
    /// use keyway::nn::{Embedding, EmbeddingConfig};
    /// use keyway::prelude::*;
    /// let embedding: Embedding<Flex> = EmbeddingConfig::new(10, 4).init(&Default::default());
    /// assert_eq!(embedding.weight.val().dims(), [10, 4]);
    /// ```
    pub fn new(entries: usize, width: usize) -> Self {
        EmbeddingConfig {
            entries,
            width,
            initializer: Initializer::Normal { mean: 0.0, std: 1.0 },
        }
    }

    /// With vectors that start with other values.
    ///
    /// ```
    /// use keyway::nn::{Embedding, EmbeddingConfig, Initializer};
    /// use keyway::prelude::*;
    /// let config = EmbeddingConfig::new(1, 2).with_initializer(Initializer::Constant(0.5));
    /// let embedding: Embedding<Flex> = config.init(&Default::default());
    /// assert_eq!(embedding.weight.val().into_vec()?, [0.5, 0.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn with_initializer(self, initializer: Initializer) -> Self {
        EmbeddingConfig { initializer, ..self }
    }

    /// The layer on a device; on a backend that records gradients, its vectors are a leaf.
    ///
    /// ```
    /// use keyway::nn::EmbeddingConfig;
    /// use keyway::prelude::*;
    /// let embedding = EmbeddingConfig::new(10, 4).init::<Autodiff<Flex>, f32>(&Default::default());
    /// assert!(embedding.weight.val().is_require_grad());
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn init<B: Backend + Supports<E>, E: FloatElement>(self, device: &B::Device) -> Embedding<B, E> {
        let shape = [self.entries, self.width];
        Embedding {
            weight: self.initializer.init(shape, shape, device),
        }
    }
}

impl<B: Backend, E: FloatElement> Embedding<B, E> {
    /// The vectors of entries of any integer type; they lie along one more axis, the last: `D2 = D + 1`.
    ///
    /// ```
    /// use keyway::nn::{Embedding, Param};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let weight = Param::new(Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device));
    /// let words = Tensor::<Flex, 1, i32>::from_array([1, 0, 1], &device);
    /// let vectors: Tensor<_, 2> = Embedding { weight }.forward(words);
    /// assert_eq!(vectors.into_vec()?, [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such entry.
    #[track_caller]
    pub fn forward<const D: usize, const D2: usize, I: IntElement>(
        &self,
        entries: Tensor<B, D, I>,
    ) -> Tensor<B, D2, E> {
        module::embedding(self.weight.val(), entries)
    }
}
