//! What run-time dispatch costs: one op on one element, by the backend's kernel, by types, and by a device chosen at run
//! time, here and in Burn.

use std::hint::black_box;

use burn_backend::ops::FloatTensorOps;
use burn_flex::{Flex as BurnFlex, FlexTensor as BurnPrimitive};
use keyway::backend::{Backend, BackendTypes};
use keyway::op::{Arg, BinaryOp, Meta, Op, UnaryOp};
use keyway::prelude::*;
use keyway::{DType, Dyn, DynDevice, DynTensor, Shape};

use crate::{ROUNDS, inputs, time};

keyway::backends! {
    /// A set with one arm.
    struct Single;
    /// Its device.
    enum SingleDevice;
    /// Its tensor.
    enum SingleTensor;
    Flex(Flex),
}

type Contender<'a> = (&'static str, [Box<dyn FnMut() + 'a>; 2]);

/// Prints nanoseconds, the best of many rounds in which every contender has its turn.
pub(crate) fn print() {
    let one = inputs([1]);
    let data = || one.keyway.to_data().expect("flex reads");
    let kernel: <Flex as BackendTypes>::Primitive = one.keyway.raw().primitive().clone();
    let meta = Meta {
        shape: Shape::from([1]),
        dtype: DType::F32,
    };
    let typed = one.keyway.clone();
    let dynamic = Tensor::<Dyn, 1>::try_from_data(data(), &DynDevice::default()).expect("flex holds f32");
    let single = SingleDevice::Flex(Default::default());
    let single = Tensor::<Single, 1>::try_from_data(data(), &single).expect("flex holds f32");
    let untyped = DynTensor::from_data(data(), &DynDevice::default()).expect("flex holds f32");
    let burn_kernel = BurnPrimitive::from_data(burn_tensor::TensorData::new(vec![0.5f32], [1]));
    let burn = one.burn.clone();
    #[cfg(feature = "candle")]
    let candle = one.candle.clone();
    #[cfg(feature = "candle")]
    let on_candle =
        Tensor::<Candle, 1>::try_from_data(data(), &Default::default()).expect("candle holds f32");

    macro_rules! contender {
        ($name:literal, $x:ident, $add:expr, $exp:expr) => {
            (
                $name,
                [
                    Box::new(|| {
                        let _ = black_box($add($x.clone(), $x.clone()));
                    }),
                    Box::new(|| {
                        let _ = black_box($exp($x.clone()));
                    }),
                ],
            )
        };
    }
    let mut contenders: Vec<Contender> = vec![
        contender!(
            "keyway: Flex's kernel",
            kernel,
            |x, y| Flex::execute(Op::Binary(BinaryOp::Add, Arg::Tensor(x), Arg::Tensor(y)), &meta),
            |x| Flex::execute(Op::Unary(UnaryOp::Exp, x), &meta)
        ),
        contender!("keyway: Tensor<Flex, 1>", typed, |x, y| x + y, Tensor::exp),
        contender!(
            "keyway: Tensor of a set with one arm",
            single,
            |x, y| x + y,
            Tensor::exp
        ),
        contender!("keyway: Tensor<Dyn, 1>", dynamic, |x, y| x + y, Tensor::exp),
        contender!(
            "keyway: DynTensor",
            untyped,
            |x: DynTensor, y: DynTensor| x.add(y),
            DynTensor::exp
        ),
        contender!(
            "burn-flex's kernel",
            burn_kernel,
            BurnFlex::float_add,
            BurnFlex::float_exp
        ),
        contender!(
            "burn: Tensor, through burn-dispatch",
            burn,
            |x, y| x + y,
            burn_tensor::Tensor::exp
        ),
    ];
    #[cfg(feature = "candle")]
    let beside_candle: [Contender; 2] = [
        contender!(
            "candle: Tensor",
            candle,
            |x: candle_core::Tensor, y: candle_core::Tensor| &x + &y,
            |x: candle_core::Tensor| x.exp()
        ),
        contender!("keyway: Tensor<Candle, 1>", on_candle, |x, y| x + y, Tensor::exp),
    ];
    #[cfg(feature = "candle")]
    contenders.extend(beside_candle);
    let mut best = vec![[f64::INFINITY; 2]; contenders.len()];
    for _ in 0..2 * ROUNDS {
        for ((_, ops), best) in contenders.iter_mut().zip(&mut best) {
            for (op, best) in ops.iter_mut().zip(best) {
                // A thousand calls at a time: microseconds of them are nanoseconds of one.
                *best = best.min(time(&mut || (0..1000).for_each(|_| op())));
            }
        }
    }
    println!("| nanoseconds, 1 element | add | exp |");
    println!("|---|---|---|");
    for ((name, _), [add, exp]) in contenders.iter().zip(best) {
        println!("| {name} | {add:.0} | {exp:.0} |");
    }
}
