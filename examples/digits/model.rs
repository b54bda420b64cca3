//! The model, written once for every backend.

use keyway::activation::relu;
use keyway::nn::{Conv2d, Conv2dConfig, Linear, LinearConfig, MaxPool2d, MaxPool2dConfig, PaddingConfig2d};
use keyway::prelude::*;

/// Two convolutions, a pool, and two linear layers.
#[derive(Clone, Debug)]
pub(crate) struct Net<B: Backend> {
    conv1: Conv2d<B>,
    conv2: Conv2d<B>,
    pool: MaxPool2d,
    hidden: Linear<B>,
    output: Linear<B>,
}
module!(Net { conv1, conv2, hidden, output } const { pool });

impl<B: Backend> Net<B> {
    pub(crate) fn new(device: &B::Device) -> Self {
        let conv = |channels| Conv2dConfig::new(channels, [3, 3]).with_padding(PaddingConfig2d::Same);
        Net {
            conv1: conv([1, 16]).init(device),
            conv2: conv([16, 32]).init(device),
            pool: MaxPool2dConfig::new([2, 2]).init(),
            hidden: LinearConfig::new(32 * 4 * 4, 64).init(device),
            output: LinearConfig::new(64, 10).init(device),
        }
    }

    /// Images `[batch, 1, 8, 8]` to a score for each digit, `[batch, 10]`.
    pub(crate) fn forward(&self, images: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = relu(self.conv1.forward(images));
        let x = self.pool.forward(relu(self.conv2.forward(x)));
        let x = relu(self.hidden.forward(x.flatten(1, 3)));
        self.output.forward(x)
    }
}
