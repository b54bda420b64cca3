use super::Param;
use crate::backend::{Backend, Supports};
use crate::element::{Element, FloatElement};
use crate::raw::Distribution;
use crate::tensor::Tensor;

/// The values that a parameter starts with. `fan_in` and `fan_out` are how many inputs a unit has, and how many units an
/// input.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Initializer {
    /// One value.
    Constant(f64),
    /// Uniform in `min..max`.
    Uniform { min: f64, max: f64 },
    /// Normal.
    Normal { mean: f64, std: f64 },
    /// Uniform, of standard deviation `gain / √fan_in` (He et al. 2015).
    KaimingUniform { gain: f64 },
    /// Normal, of standard deviation `gain / √fan_in` (He et al. 2015).
    KaimingNormal { gain: f64 },
    /// Uniform, of standard deviation `gain √(2 / (fan_in + fan_out))` (Glorot & Bengio 2010).
    XavierUniform { gain: f64 },
    /// Normal, of standard deviation `gain √(2 / (fan_in + fan_out))` (Glorot & Bengio 2010).
    XavierNormal { gain: f64 },
}

impl Initializer {
    /// What linear and convolutional layers start with, weights and biases: uniform in `±1/√fan_in`.
    pub const LINEAR: Initializer = Initializer::KaimingUniform {
        gain: 0.577_350_269_189_625_8, // 1/√3
    };

    /// A parameter of this shape with such values, for a layer of so many inputs and outputs.
    ///
    /// ```
    /// use keyway::nn::{Initializer, Param};
    /// use keyway::prelude::*;
    /// let weight: Param<Flex, 2> = Initializer::LINEAR.init([4, 100], [4, 100], &Default::default());
    /// assert!(weight.val().into_vec()?.iter().all(|x| x.abs() <= 0.5)); // 1/√4
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the arguments make no sense, or the device fails.
    #[track_caller]
    pub fn init<B: Backend + Supports<E>, const D: usize, E: FloatElement>(
        self,
        shape: [usize; D],
        [fan_in, fan_out]: [usize; 2],
        device: &B::Device,
    ) -> Param<B, D, E> {
        // A layer without inputs has no weights; its bias starts at 0.
        let kaiming = |gain: f64| {
            if fan_in == 0 {
                0.0
            } else {
                gain / (fan_in as f64).sqrt()
            }
        };
        let xavier = |gain: f64| gain * (2.0 / fan_in.saturating_add(fan_out).max(1) as f64).sqrt();
        let uniform = |std: f64| Distribution::Uniform(-std * 3f64.sqrt(), std * 3f64.sqrt());
        let normal = |std: f64| Distribution::Normal(0.0, std);
        let distribution = match self {
            Initializer::Constant(value) => {
                return Param::new(Tensor::full(shape, E::from_scalar(value.to_scalar()), device));
            }
            Initializer::Uniform { min, max } => Distribution::Uniform(min, max),
            Initializer::Normal { mean, std } => Distribution::Normal(mean, std),
            Initializer::KaimingUniform { gain } => uniform(kaiming(gain)),
            Initializer::KaimingNormal { gain } => normal(kaiming(gain)),
            Initializer::XavierUniform { gain } => uniform(xavier(gain)),
            Initializer::XavierNormal { gain } => normal(xavier(gain)),
        };
        Param::new(Tensor::random(shape, distribution, device))
    }
}
