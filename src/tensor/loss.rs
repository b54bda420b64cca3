//! Losses. Each takes the prediction first, then the target, then what becomes of the losses of the elements:
//! [`Mean`], [`Sum`] or [`Unreduced`]; [`cross_entropy_with_logits`] gives the mean.

use super::Tensor;
use crate::backend::Backend;
use crate::element::{Element, FloatElement, IntElement};
use crate::error::Error;
use crate::raw::Raw;

/// What becomes of the losses of the elements; the type decides the rank of the result.
pub trait Reduction {
    /// The type of the result, for elements in `D` axes.
    type Output<B: Backend, const D: usize, E: Element>;

    /// Reduces the losses of the elements.
    ///
    /// # Panics
    /// With the error's text, if there is one.
    #[doc(hidden)]
    fn reduce<B: Backend, const D: usize, E: Element>(losses: Result<Raw<B>, Error>)
    -> Self::Output<B, D, E>;
}

/// The mean of all losses, in shape `[1]`.
#[derive(Clone, Copy, Debug)]
pub struct Mean;

/// The sum of all losses, in shape `[1]`.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

/// Every loss by itself.
#[derive(Clone, Copy, Debug)]
pub struct Unreduced;

impl Reduction for Mean {
    type Output<B: Backend, const D: usize, E: Element> = Tensor<B, 1, E>;
    #[track_caller]
    fn reduce<B: Backend, const D: usize, E: Element>(losses: Result<Raw<B>, Error>) -> Tensor<B, 1, E> {
        Tensor::of(losses.and_then(Raw::mean))
    }
}

impl Reduction for Sum {
    type Output<B: Backend, const D: usize, E: Element> = Tensor<B, 1, E>;
    #[track_caller]
    fn reduce<B: Backend, const D: usize, E: Element>(losses: Result<Raw<B>, Error>) -> Tensor<B, 1, E> {
        Tensor::of(losses.and_then(Raw::sum))
    }
}

impl Reduction for Unreduced {
    type Output<B: Backend, const D: usize, E: Element> = Tensor<B, D, E>;
    #[track_caller]
    fn reduce<B: Backend, const D: usize, E: Element>(losses: Result<Raw<B>, Error>) -> Tensor<B, D, E> {
        Tensor::of(losses)
    }
}

macro_rules! losses {
    ($($(#[$doc:meta])* $name:ident($($arg:ident)?);)*) => { $(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<B: Backend, const D: usize, E: FloatElement, R: Reduction>(
            prediction: Tensor<B, D, E>,
            target: Tensor<B, D, E>,
            $($arg: f64,)?
            _: R,
        ) -> R::Output<B, D, E> {
            R::reduce(prediction.into_raw().$name(target.into_raw() $(, $arg)?))
        }
    )* };
}

losses! {
    /// `(x - t)²`: reduced by [`Mean`], the mean squared error.
    ///
    /// ```
    /// use keyway::loss::{self, Mean};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &device);
    /// let t = Tensor::from_array([1.0, 4.0], &device);
    /// assert_eq!(loss::mse(x, t, Mean).into_scalar()?, 2.0);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes differ.
    mse();

    /// `|x - t|`; its gradient is 0 where they are equal.
    ///
    /// ```
    /// use keyway::loss::{self, Unreduced};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &device);
    /// let t = Tensor::from_array([1.0, 4.0], &device);
    /// assert_eq!(loss::l1(x, t, Unreduced).into_vec()?, [0.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes differ.
    l1();

    /// `d² / 2` where `d = |x - t|` is at most `delta`, else `delta (d - delta / 2)` (Huber 1964).
    ///
    /// ```
    /// use keyway::loss::{self, Unreduced};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([0.5, 3.0], &device);
    /// let t = Tensor::from_array([0.0, 0.0], &device);
    /// assert_eq!(loss::huber(x, t, 1.0, Unreduced).into_vec()?, [0.125, 2.5]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes differ, or `delta` is not positive.
    huber(delta);

    /// `d² / (2 beta)` where `d = |x - t|` is at most `beta`, else `d - beta / 2`: [`huber`] divided by `beta`.
    ///
    /// ```
    /// use keyway::loss::{self, Unreduced};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([0.5, 3.0], &device);
    /// let t = Tensor::from_array([0.0, 0.0], &device);
    /// assert_eq!(loss::smooth_l1(x, t, 2.0, Unreduced).into_vec()?, [0.0625, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes differ, or `beta` is not positive.
    smooth_l1(beta);

    /// `-(t ln sigmoid(x) + (1 - t) ln(1 - sigmoid(x)))` of logits x and probabilities t, without overflow.
    ///
    /// ```
    /// use keyway::loss::{self, Unreduced};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([0.0, -1000.0], &device);
    /// let t = Tensor::from_array([1.0, 1.0], &device);
    /// assert_eq!(loss::binary_cross_entropy_with_logits(x, t, Unreduced).to_string(), "[   0.6931, 1000.0000]");
    /// ```
    ///
    /// # Panics
    /// If the shapes differ.
    binary_cross_entropy_with_logits();

    /// The divergence of Kullback and Leibler, `t (ln t - x)`, of logarithms x of probabilities and probabilities t; 0
    /// where t is.
    ///
    /// ```
    /// use keyway::loss::{self, Sum};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([-1.0, -1.0], &device);
    /// let t = Tensor::from_array([1.0, 0.0], &device);
    /// assert_eq!(loss::kl_div(x, t, Sum).into_scalar()?, 1.0);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes differ.
    kl_div();
}

/// `-log_softmax(x)[t]` for each row of logits `[n, classes]`; the target holds `n` classes.
///
/// ```
/// use keyway::loss::{self, Mean};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let logits = Tensor::<Flex, 2>::zeros([3, 4], &device);
/// let classes = Tensor::<Flex, 1, i32>::from_array([0, 3, 1], &device);
/// let loss = loss::cross_entropy(logits, classes, Mean).into_scalar()?;
/// assert!((loss - 4f32.ln()).abs() < 1e-6);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is not one target for each row, or a target is not a class.
#[track_caller]
pub fn cross_entropy<B: Backend, E: FloatElement, I: IntElement, R: Reduction>(
    logits: Tensor<B, 2, E>,
    target: Tensor<B, 1, I>,
    _: R,
) -> R::Output<B, 1, E> {
    R::reduce(logits.into_raw().cross_entropy(target.into_raw()))
}

/// `-x[t]` for each row of log-probabilities `[n, classes]`; the target holds `n` classes.
///
/// ```
/// use keyway::loss::{self, Mean};
/// use keyway::prelude::*;
/// let device = Default::default();
/// let log_probabilities = Tensor::<Flex, 2>::from_array([[-1.0, -2.0], [-3.0, -4.0]], &device);
/// let classes = Tensor::<Flex, 1, i32>::from_array([1, 0], &device);
/// assert_eq!(loss::nll(log_probabilities, classes, Mean).into_scalar()?, 2.5);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is not one target for each row, or a target is not a class.
#[track_caller]
pub fn nll<B: Backend, E: FloatElement, I: IntElement, R: Reduction>(
    log_probabilities: Tensor<B, 2, E>,
    target: Tensor<B, 1, I>,
    _: R,
) -> R::Output<B, 1, E> {
    R::reduce(log_probabilities.into_raw().nll(target.into_raw()))
}

/// The mean, over the rows, of `-Σ t log_softmax(x)` along the last axis, which holds a logit and the probability of each
/// class. A class without probability counts 0.
///
/// ```
/// use keyway::loss::cross_entropy_with_logits;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let logits = Tensor::<Flex, 2>::zeros([2, 4], &device);
/// let probabilities = Tensor::from_array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]], &device);
/// let loss = cross_entropy_with_logits(logits, probabilities).into_scalar()?;
/// assert!((loss - 4f32.ln()).abs() < 1e-6);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes differ.
#[track_caller]
pub fn cross_entropy_with_logits<B: Backend, const D: usize, E: FloatElement>(
    logits: Tensor<B, D, E>,
    target_probs: Tensor<B, D, E>,
) -> Tensor<B, 1, E> {
    const {
        assert!(
            D >= 1,
            "`cross_entropy_with_logits` takes classes along the last axis: rank 1 or more"
        )
    }
    Mean::reduce::<B, D, E>(
        logits
            .into_raw()
            .cross_entropy_with_logits(target_probs.into_raw()),
    )
}
