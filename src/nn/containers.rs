//! `module!`, the modules made of modules, and those that hold no tensors.

use super::module::{Mapper, Module, Visitor};
use crate::backend::Backend;
use crate::error::Error;

/// Implements [`Module`](crate::nn::Module) for a struct whose first generic parameter is its backend. Every field is
/// listed: the modules, parameters and buffers first, then, after `const`, what stays as it is.
///
/// ```
/// use keyway::nn::{Linear, LinearConfig, Param};
/// use keyway::prelude::*;
///
/// struct Net<B: Backend> { layers: Vec<Linear<B>>, scale: Param<B, 1>, steps: usize }
/// keyway::module!(Net { layers, scale } const { steps });
///
/// // Further generic parameters are given with their bounds.
/// struct Half<B: Backend, E: FloatElement> { linear: Linear<B, E> }
/// keyway::module!(Half<E: FloatElement> { linear });
/// # let device = Default::default();
/// # let linear = LinearConfig::new(1, 2).init::<Flex, f32>(&device);
/// # let scale = Param::new(Tensor::ones([1], &device));
/// # let net = Net { layers: vec![linear.clone()], scale, steps: 3 };
/// # assert!(net.record()?.into_keys().eq(["layers.0.bias", "layers.0.weight", "scale"]));
/// # assert_eq!(net.to_backend::<Autodiff<Flex>>(&device)?.steps, 3);
/// # assert_eq!(Half { linear }.num_params(), 4);
/// # Ok::<(), keyway::Error>(())
/// ```
#[macro_export]
macro_rules! module {
    ($name:ident $(<$($generic:ident: $bound:path),+ $(,)?>)? { $($field:ident),* $(,)? }
        $(const { $($constant:ident),* $(,)? })?
    ) => {
        impl<B: $crate::Backend $($(, $generic: $bound)+)?> $crate::nn::Module<B> for $name<B $($(, $generic)+)?> {
            type On<B2: $crate::Backend> = $name<B2 $($(, $generic)+)?>;

            fn visit(
                &mut self,
                visitor: &mut $crate::nn::Visitor<'_, B>,
            ) -> ::core::result::Result<(), $crate::Error> {
                $(visitor.field(::core::stringify!($field), &mut self.$field)?;)*
                ::core::result::Result::Ok(())
            }

            fn map<B2: $crate::Backend>(
                &self,
                mapper: &mut $crate::nn::Mapper<'_, B, B2>,
            ) -> ::core::result::Result<$name<B2 $($(, $generic)+)?>, $crate::Error> {
                ::core::result::Result::Ok($name {
                    $($field: mapper.field(::core::stringify!($field), &self.$field)?,)*
                    $($($constant: ::core::clone::Clone::clone(&self.$constant),)*)?
                })
            }
        }
    };
}

impl<B: Backend, M: Module<B>> Module<B> for Option<M> {
    type On<B2: Backend> = Option<M::On<B2>>;

    fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error> {
        self.as_mut().map_or(Ok(()), |module| module.visit(visitor))
    }

    fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Self::On<B2>, Error> {
        self.as_ref().map(|module| module.map(mapper)).transpose()
    }
}

/// Each module is found under its position.
impl<B: Backend, M: Module<B>> Module<B> for Vec<M> {
    type On<B2: Backend> = Vec<M::On<B2>>;

    fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error> {
        let mut modules = self.iter_mut().enumerate();
        modules.try_for_each(|(i, module)| visitor.field(i.to_string(), module))
    }

    fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Self::On<B2>, Error> {
        let modules = self.iter().enumerate();
        modules
            .map(|(i, module)| mapper.field(i.to_string(), module))
            .collect()
    }
}

macro_rules! tuples {
    ($(($($M:ident $i:tt),+))*) => { $(
        /// Each module is found under its position.
        impl<B: Backend, $($M: Module<B>),+> Module<B> for ($($M,)+) {
            type On<B2: Backend> = ($($M::On<B2>,)+);

            fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error> {
                $(visitor.field(stringify!($i), &mut self.$i)?;)+
                Ok(())
            }

            fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Self::On<B2>, Error> {
                Ok(($(mapper.field(stringify!($i), &self.$i)?,)+))
            }
        }
    )* };
}
tuples! { (M0 0, M1 1) (M0 0, M1 1, M2 2) (M0 0, M1 1, M2 2, M3 3) }

/// Implements [`Module`] for layers that hold no tensors.
macro_rules! without_tensors {
    ($($T:ty)*) => { $(
        impl<B: $crate::Backend> $crate::nn::Module<B> for $T {
            type On<B2: $crate::Backend> = $T;

            fn visit(&mut self, _: &mut $crate::nn::Visitor<'_, B>) -> Result<(), $crate::Error> {
                Ok(())
            }

            fn map<B2: $crate::Backend>(&self, _: &mut $crate::nn::Mapper<'_, B, B2>) -> Result<$T, $crate::Error> {
                Ok(Clone::clone(self))
            }
        }
    )* };
}
pub(super) use without_tensors;
