//! A small regression network, written once for every backend.

use keyway::activation::tanh;
use keyway::nn::{Linear, LinearConfig};
use keyway::prelude::*;

/// Units of the hidden layer.
const HIDDEN: usize = 16;

/// Two linear layers.
#[derive(Clone, Debug)]
pub struct Net<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
}
keyway::module!(Net { hidden, output });

impl<B: Backend> Net<B> {
    /// Takes `inputs` numbers to one.
    pub fn new(inputs: usize, device: &B::Device) -> Self {
        Net {
            hidden: LinearConfig::new(inputs, HIDDEN).init(device),
            output: LinearConfig::new(HIDDEN, 1).init(device),
        }
    }

    /// `[batch, inputs]` to `[batch, 1]`.
    pub fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.output.forward(tanh(self.hidden.forward(x)))
    }
}
