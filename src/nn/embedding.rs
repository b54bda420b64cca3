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
    /// Vectors of this width, drawn from the standard normal distribution.
    pub fn new(entries: usize, width: usize) -> Self {
        EmbeddingConfig {
            entries,
            width,
            initializer: Initializer::Normal { mean: 0.0, std: 1.0 },
        }
    }

    /// With vectors that start with other values.
    pub fn with_initializer(self, initializer: Initializer) -> Self {
        EmbeddingConfig { initializer, ..self }
    }

    /// The layer on a device.
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
    /// The vectors of entries of any integer type; they lie along one more axis, the last.
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
