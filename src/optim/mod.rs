//! Optimizers. They step with gradients that every member of the group has alike, and no others.

use std::collections::HashSet;

use crate::autodiff::{AutodiffBackend, Gradients, LeafId, ReadyToStep};
use crate::backend::{PlainBackend, Reach};
use crate::error::Error;
use crate::nn::{Kind, Module, Visitor};
use crate::raw::Raw;

mod adamw;
mod sgd;

pub use adamw::{AdamW, AdamWConfig};
pub use sgd::{Sgd, SgdConfig};

/// A rule that takes a parameter and its gradient to the parameter's next value.
///
/// ```
/// use keyway::nn::{Linear, LinearConfig};
/// use keyway::optim::SgdConfig;
/// use keyway::prelude::*;
///
/// fn train<B: PlainBackend>(device: &B::Device) -> Result<Linear<B>, Error> {
///     let mut model: Linear<Autodiff<B>> = LinearConfig::new(1, 1).with_bias(false).init(device);
///     let mut sgd = SgdConfig::new().init();
///     let x = Tensor::from_array([[1.0], [2.0]], device);
///     for _ in 0..20 {
///         let error = model.forward(x.clone()) - x.clone() * 3.0;
///         let gradients = (error.clone() * error).sum().backward().sync()?;
///         sgd.step(0.05, &mut model, &gradients)?;
///     }
///     Ok(model.valid())
/// }
///
/// let model = train::<Flex>(&Default::default())?;
/// assert!((model.weight.val().into_scalar()? - 3.0).abs() < 1e-3);
/// # Ok::<(), keyway::Error>(())
/// ```
pub trait Optimizer<B: PlainBackend> {
    /// The next value of the parameter at `path`. For half types, `value` and `gradient` are `f32`, and so may the result
    /// be.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::prelude::*;
    /// use keyway::raw::Raw;
    ///
    /// struct SignSgd;
    /// impl<B: PlainBackend> Optimizer<B> for SignSgd {
    ///     fn update(&mut self, lr: f64, _: &str, value: Raw<B>, gradient: Raw<B>) -> Result<Raw<B>, Error> {
    ///         value.sub(gradient.sign()?.mul(lr)?)
    ///     }
    /// }
    ///
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 7.0).backward();
    /// SignSgd.step(0.5, &mut weight, &gradients)?;
    /// assert_eq!(weight.val().into_vec()?, [0.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the backend fails.
    fn update(&mut self, lr: f64, path: &str, value: Raw<B>, gradient: Raw<B>) -> Result<Raw<B>, Error>;

    /// Gives every parameter that has a gradient its next value, at a learning rate. Clones of the model keep theirs.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::optim::SgdConfig;
    /// use keyway::prelude::*;
    /// let mut weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &Default::default()));
    /// let gradients = (weight.val() * 2.0).backward();
    /// SgdConfig::new().init().step(0.1, &mut weight, &gradients)?;
    /// assert_eq!(weight.val().into_vec()?, [0.8]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` if the learning rate is not finite; if the gradients hold none of the model's parameters, as those of
    /// another model do; or if the device is in a group that does not train a parameter together, as after
    /// [`Module::distribute`], so that the members would drift apart. The model is then unchanged. Or if the backend fails.
    fn step<A: AutodiffBackend<Plain = B>, M: Module<A>, S: ReadyToStep>(
        &mut self,
        lr: f64,
        model: &mut M,
        gradients: &Gradients<B, S>,
    ) -> Result<(), Error> {
        if !lr.is_finite() {
            return Err(Error::argument("step", format!("{lr} is no learning rate")));
        }
        trained_together::<A, M, S>(model, gradients)?;
        let mut stepped = false;
        model.visit(&mut Visitor::new(&mut |slot, x: &Raw<A>| {
            if slot.kind != Kind::Param {
                return Ok(None);
            }
            let leaf = A::leaf(x.primitive());
            let Some(gradient) = leaf.and_then(|leaf| gradients.set.by_leaf.get(&leaf)) else {
                return Ok(None);
            };
            stepped = true;
            // A half type loses steps that are small beside the value.
            let dtype = x.dtype();
            let value = Raw::<B>::new(A::inner(x.clone().into_primitive())).widen()?;
            let gradient = Raw::<B>::new(gradient.clone()).widen()?;
            let next = self.update(lr, slot.path, value, gradient)?.cast(dtype)?;
            Ok(Some(Raw::new(A::from_inner(next.into_primitive()))))
        }))?;
        if stepped {
            return Ok(());
        }
        Err(Error::argument(
            "step",
            "the gradients hold none of the model's parameters; `backward` must come from a result of this model",
        ))
    }
}

/// Refuses gradients of a group that are one member's own.
fn trained_together<A: AutodiffBackend, M: Module<A>, S>(
    model: &M,
    gradients: &Gradients<A::Plain, S>,
) -> Result<(), Error> {
    let set = &gradients.set;
    let device = set.group_device();
    if A::Reach::member(&device).is_none_or(|member| member.size() == 1) {
        return Ok(());
    }
    let together: HashSet<LeafId> = set.params.values().copied().collect();
    model.for_each(|slot, x| match A::leaf(x.primitive()) {
        Some(leaf) if slot.kind == Kind::Param && set.get(leaf).is_some() && !together.contains(&leaf) => {
            let message = format!(
                "the group does not train `{}` together, and its members would drift apart; `model.distribute()?` first",
                slot.path
            );
            Err(Error::argument("step", message))
        }
        _ => Ok(()),
    })
}
