use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::module::{Kind, Mapper, Module, Visitor};
use crate::autodiff::{AutodiffBackend, Gradients};
use crate::backend::Backend;
use crate::element::{Element, FloatElement};
use crate::error::Error;
use crate::tensor::{Tensor, ok};

/// A trained tensor of a model. On a backend that records gradients it is a leaf. Its identity is its path in the model.
///
/// ```
/// use keyway::nn::Param;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device));
/// let gradients = (weight.val() * weight.val()).sum().backward();
/// assert_eq!(weight.grad(&gradients).unwrap().into_vec()?, [2.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone)]
pub struct Param<B: Backend, const D: usize, E: FloatElement = f32> {
    value: Tensor<B, D, E>,
}

impl<B: Backend, const D: usize, E: FloatElement> Param<B, D, E> {
    /// A parameter of this value, whose history it forgets.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device));
    /// assert!(weight.val().is_require_grad());
    /// ```
    pub fn new(value: Tensor<B, D, E>) -> Self {
        Self::wrap(value.into_primitive(), None)
    }

    /// The value: a leaf, on a backend that records gradients.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device));
    /// assert_eq!((weight.val() * 2.0).into_vec()?, [2.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn val(&self) -> Tensor<B, D, E> {
        self.value.clone()
    }

    /// The parameter with another value. It is the same leaf, and what `f` does is not recorded.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device));
    /// let weight = weight.map(|value| value * 0.5);
    /// assert_eq!(weight.val().into_vec()?, [0.5, 1.0]);
    /// assert!(weight.val().is_require_grad());
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn map(self, f: impl FnOnce(Tensor<B, D, E>) -> Tensor<B, D, E>) -> Self {
        let value = f(detached(self.val()));
        Self::wrap(value.into_primitive(), Some(&self))
    }

    /// The gradient, if the backward pass came by this parameter.
    ///
    /// ```
    /// use keyway::nn::Param;
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let weight = Param::new(Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device));
    /// let gradients = (weight.val() * 3.0).backward();
    /// assert_eq!(weight.grad(&gradients).unwrap().into_vec()?, [3.0, 3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn grad<S>(&self, gradients: &Gradients<B::Plain, S>) -> Option<Tensor<B::Plain, D, E>>
    where
        B: AutodiffBackend,
    {
        self.value.grad(gradients)
    }

    fn wrap(value: B::Primitive, old: Option<&Self>) -> Self {
        let leaf = B::parameter(value, old.map(|old| old.value.raw().primitive()));
        Param {
            value: Tensor::from_primitive(leaf),
        }
    }
}

impl<B: Backend, const D: usize, E: FloatElement> Module<B> for Param<B, D, E> {
    type On<B2: Backend> = Param<B2, D, E>;

    fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error> {
        if let Some(new) = visitor.tensor(Kind::Param, self.value.raw())? {
            *self = Self::wrap(new.into_primitive(), Some(self));
        }
        Ok(())
    }

    fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Param<B2, D, E>, Error> {
        let raw = mapper.tensor(Kind::Param, self.value.raw())?;
        Ok(Param::new(Tensor::try_from_raw(raw)?))
    }
}

impl<B: Backend, const D: usize, E: FloatElement> fmt::Debug for Param<B, D, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Param").field(&self.value).finish()
    }
}

/// A tensor that is kept with a model (moved, saved, loaded) but not trained, such as a running mean. It is never
/// tracked. A layer may change it through a shared reference while it runs; a clone has a value of its own.
///
/// ```
/// use keyway::nn::Buffer;
/// use keyway::prelude::*;
/// let counts = Buffer::new(Tensor::<Flex, 1, i32>::from_array([0, 0], &Default::default()));
/// counts.update(|counts| counts + 1);
/// assert_eq!(counts.val().into_vec()?, [1, 1]);
/// # Ok::<(), keyway::Error>(())
/// ```
pub struct Buffer<B: Backend, const D: usize, E: Element = f32> {
    value: Mutex<Versioned<Tensor<B, D, E>>>,
}

/// A value, and how many it replaced.
struct Versioned<T> {
    value: T,
    version: u64,
}

impl<B: Backend, const D: usize, E: Element> Buffer<B, D, E> {
    /// A buffer of this value, whose history it forgets.
    ///
    /// ```
    /// use keyway::nn::Buffer;
    /// use keyway::prelude::*;
    /// let x = Tensor::<Autodiff<Flex>, 1>::ones([1], &Default::default()).require_grad();
    /// assert!(!Buffer::new(x).val().is_require_grad());
    /// ```
    pub fn new(value: Tensor<B, D, E>) -> Self {
        Buffer {
            value: Mutex::new(Versioned {
                value: detached(value),
                version: 0,
            }),
        }
    }

    /// The value.
    ///
    /// ```
    /// use keyway::nn::Buffer;
    /// use keyway::prelude::*;
    /// let count = Buffer::new(Tensor::<Flex, 1, i32>::from_array([1], &Default::default()));
    /// assert_eq!(count.val().into_vec()?, [1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn val(&self) -> Tensor<B, D, E> {
        self.lock().value.clone()
    }

    /// Gives the buffer another value, which may depend on the one it has; nothing comes in between: `f` is called again
    /// where another thread was faster.
    ///
    /// ```
    /// use keyway::nn::Buffer;
    /// use keyway::prelude::*;
    /// let count = Buffer::new(Tensor::<Flex, 1, i32>::from_array([1], &Default::default()));
    /// count.update(|count| count + 1);
    /// assert_eq!(count.val().into_vec()?, [2]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn update(&self, f: impl Fn(Tensor<B, D, E>) -> Tensor<B, D, E>) {
        ok(self.try_update(|value| Ok(f(value))));
    }

    /// [`Buffer::update`] by a function that may fail.
    ///
    /// ```
    /// use keyway::nn::Buffer;
    /// use keyway::prelude::*;
    /// let count = Buffer::new(Tensor::<Flex, 1, i32>::from_array([1], &Default::default()));
    /// assert!(count.try_update(|count| count.try_apply(|x| x.reshape([7]))).is_err());
    /// assert_eq!(count.val().into_vec()?, [1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `f` returns; the value is then unchanged.
    pub fn try_update(
        &self,
        f: impl Fn(Tensor<B, D, E>) -> Result<Tensor<B, D, E>, Error>,
    ) -> Result<(), Error> {
        loop {
            let (old, version) = {
                let current = self.lock();
                (current.value.clone(), current.version)
            };
            // Without the lock: a thread that waits inside an op may meanwhile be given work that wants it.
            let value = detached(f(old)?);
            let mut current = self.lock();
            if current.version == version {
                *current = Versioned {
                    value,
                    version: version + 1,
                };
                return Ok(());
            }
        }
    }

    /// A panic while the lock is held leaves the old value, which is a whole one.
    fn lock(&self) -> MutexGuard<'_, Versioned<Tensor<B, D, E>>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn detached<B: Backend, const D: usize, E: Element>(value: Tensor<B, D, E>) -> Tensor<B, D, E> {
    Tensor::from_primitive(B::detach(value.into_primitive()))
}

impl<B: Backend, const D: usize, E: Element> Module<B> for Buffer<B, D, E> {
    type On<B2: Backend> = Buffer<B2, D, E>;

    fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error> {
        if let Some(new) = visitor.tensor(Kind::Buffer, self.val().raw())? {
            *self = Buffer::new(Tensor::try_from_raw(new)?);
        }
        Ok(())
    }

    fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Buffer<B2, D, E>, Error> {
        let raw = mapper.tensor(Kind::Buffer, self.val().raw())?;
        Ok(Buffer::new(Tensor::try_from_raw(raw)?))
    }
}

impl<B: Backend, const D: usize, E: Element> Clone for Buffer<B, D, E> {
    fn clone(&self) -> Self {
        Buffer::new(self.val())
    }
}

impl<B: Backend, const D: usize, E: Element> fmt::Debug for Buffer<B, D, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Buffer").field(&self.val()).finish()
    }
}
