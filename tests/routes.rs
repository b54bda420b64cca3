//! That every way to a backend leads to it: what an op gives by another route is, bit by bit, what it gives directly,
//! errors and gradients included.

#[allow(dead_code)]
#[path = "support/deferred.rs"]
mod deferred;
mod support;

use std::collections::BTreeSet;
use std::fmt::Debug;

use deferred::Deferred;
use keyway::collective::MeshDevice;
use keyway::dynamic::{Custom, CustomDevice, Dyn, DynDevice};
use keyway::op::random::Key;
use keyway::op::{Arg, BinaryOp, CreateOp, Meta, Op};
use keyway::raw::Raw;
use keyway::{
    Autodiff, AutodiffBackend, Backend, DType, Error, Flex, Mesh, PlainBackend, Readable, Scalar, Shape,
    TensorData,
};
use support::{Fill, Layout, Operand, leaf, leaves, ops, same_bits};

/// One test per route: `name: direct on its device => route on its device`.
macro_rules! routes {
    ($($(#[$meta:meta])* $name:ident: $Direct:ty, $direct:expr => $Route:ty, $route:expr;)*) => { $(
        $(#[$meta])*
        mod $name {
            use super::*;

            #[test]
            fn results() {
                let ways = Ways::<$Direct, $Route> { direct: $direct, route: $route };
                ways.every_op(same_result::<$Direct, $Route>);
                ways.creation();
            }

            #[test]
            fn gradients() {
                let ways = Ways::<$Direct, $Route> { direct: $direct, route: $route };
                ways.every_op(same_gradients::<$Direct, $Route>);
            }
        }
    )* };
}

routes! {
    dyn_flex: Flex, Default::default() => Dyn, DynDevice::Flex(Default::default());
    dyn_mesh: Mesh<Flex>, alone() => Dyn, DynDevice::MeshFlex(alone());
    dyn_custom: Flex, Default::default() => Dyn, DynDevice::custom::<Flex>(Default::default());
    #[cfg(feature = "candle")]
    dyn_candle: keyway::Candle, Default::default() => Dyn, DynDevice::Candle(Default::default());
    #[cfg(feature = "ndarray")]
    dyn_ndarray: keyway::NdArray, Default::default() => Dyn, DynDevice::NdArray(Default::default());
    #[cfg(feature = "tch")]
    dyn_tch: keyway::LibTorch, Default::default() => Dyn, DynDevice::LibTorch(Default::default());
    custom: Flex, Default::default() => Custom, CustomDevice::new::<Flex>(Default::default());
    lazy: Flex, Default::default() => Deferred, Default::default();
}

fn alone() -> MeshDevice<Flex> {
    MeshDevice::alone(Default::default())
}

/// Between them every op of the vocabulary on every element type.
const SHAPES: &[&[usize]] = &[&[], &[7], &[3, 4], &[2, 0, 3], &[2, 4, 5], &[1, 2, 4, 3]];

/// A backend and a route to it.
struct Ways<B: Backend, R: Backend> {
    direct: B::Device,
    route: R::Device,
}

/// An op on operands in a layout, with values from a seed.
#[derive(Debug)]
struct Case {
    op: Op<Operand>,
    layout: Layout,
    seed: u64,
}

impl<B: PlainBackend + Readable, R: PlainBackend + Readable> Ways<B, R> {
    /// Checks the vocabulary, and what it refuses.
    fn every_op(&self, check: fn(&Self, &Case)) {
        let mut seen = BTreeSet::new();
        for (s, &shape) in SHAPES.iter().enumerate() {
            for (d, &dtype) in DType::ALL.iter().enumerate() {
                for (i, op) in ops(&shape.into(), dtype).into_iter().enumerate() {
                    seen.insert(leaf(&op));
                    let turn = i + s + d;
                    let mut cases = vec![op.clone()];
                    // The refusals, now and then.
                    cases.extend((turn % 4 == 0).then(|| spoiled(&op, turn / 4)));
                    for op in cases {
                        let layout = Layout::ALL[turn % Layout::ALL.len()];
                        let seed = turn as u64;
                        check(self, &Case { op, layout, seed });
                    }
                }
            }
        }
        assert!(
            leaves().all(|leaf| seen.contains(leaf)),
            "the shapes leave out some op"
        );
    }

    fn creation(&self) {
        let key = Key { seed: 9, offset: 5 };
        let numbers = [Scalar::Float(2.5), Scalar::Int(-3), Scalar::Bool(true)];
        let (low, high) = (-1.0, 2.0);
        let (mean, std) = (1.0, 0.5);
        let ops = numbers.map(CreateOp::Full).into_iter().chain([
            CreateOp::Arange {
                start: Scalar::Int(5),
                step: Scalar::Int(-2),
            },
            CreateOp::Uniform { low, high, key },
            CreateOp::Uniform {
                low: high,
                high: low,
                key,
            },
            CreateOp::Normal { mean, std, key },
        ]);
        for op in ops {
            for shape in [&[][..], &[0], &[5], &[3, 7]] {
                for &dtype in DType::ALL {
                    let direct = Raw::<B>::create(op.clone(), shape, dtype, &self.direct);
                    let route = Raw::<R>::create(op.clone(), shape, dtype, &self.route);
                    assert_same(direct.and_then(read), route.and_then(read), &(&op, shape, dtype));
                }
            }
        }
    }
}

/// The op with one operand that may not fit: of another element type, of another rank, longer, or with every value out
/// of range.
fn spoiled(op: &Op<Operand>, turn: usize) -> Op<Operand> {
    let mut operands = 0;
    op.visit(|_| operands += 1);
    let (which, how) = (turn % operands, turn / operands % 4);
    let mut place = 0;
    op.clone().map(|x| {
        place += 1;
        if place - 1 != which {
            return x;
        }
        let Meta { shape, dtype } = x.meta;
        let with_axis = |shape: &Shape| shape.iter().copied().chain([1]).collect::<Shape>();
        match how {
            0 if dtype == DType::I32 => Operand::new(shape, DType::F32, Fill::Tame),
            0 => Operand::new(shape, DType::I32, Fill::Tame),
            1 => Operand::new(with_axis(&shape), dtype, Fill::Tame),
            2 => Operand::new(shape.iter().map(|n| n + 2).collect::<Shape>(), dtype, Fill::Tame),
            _ if dtype.is_int() && turn.is_multiple_of(2) => Operand::new(shape, dtype, Fill::Same(0)),
            _ => Operand::new(shape, dtype, Fill::Same(100)),
        }
    })
}

impl Case {
    /// The result, and every operand's buffer as `prepare` left it.
    fn run<B: Backend>(
        &self,
        device: &B::Device,
        prepare: fn(Raw<B>) -> Raw<B>,
    ) -> (Result<Raw<B>, Error>, Vec<Raw<B>>) {
        let mut buffers = vec![];
        let op = self.op.clone().try_map(|operand| {
            let seed = self.seed + 7919 * buffers.len() as u64;
            let buffer = operand.buffer::<B>(self.layout, seed, device).map(prepare)?;
            buffers.push(buffer.clone());
            operand.view(self.layout, buffer)
        });
        (op.and_then(Raw::run), buffers)
    }
}

fn same_result<B: PlainBackend + Readable, R: PlainBackend + Readable>(ways: &Ways<B, R>, case: &Case) {
    let (direct, _) = case.run::<B>(&ways.direct, |x| x);
    let (route, _) = case.run::<R>(&ways.route, |x| x);
    assert_same(direct.and_then(read), route.and_then(read), case);
}

fn same_gradients<B: PlainBackend + Readable, R: PlainBackend + Readable>(ways: &Ways<B, R>, case: &Case) {
    let mut floats = false;
    case.op.visit(|x| floats |= x.meta.dtype.is_float());
    // Without a float there is nothing to track; the error is the same for all.
    if !floats && !case.seed.is_multiple_of(16) {
        return;
    }
    let direct = gradients::<Autodiff<B>>(case, &ways.direct);
    let route = gradients::<Autodiff<R>>(case, &ways.route);
    match (direct, route) {
        (Ok(direct), Ok(route)) => {
            assert_eq!(direct.len(), route.len(), "{case:?}");
            for (direct, route) in direct.into_iter().zip(route) {
                assert_eq!(direct.is_some(), route.is_some(), "{case:?}");
                if let (Some(direct), Some(route)) = (direct, route) {
                    assert_same(Ok(direct), Ok(route), case);
                }
            }
        }
        (direct, route) => assert_eq!(direct.err(), route.err(), "{case:?}"),
    }
}

/// The gradient of each float operand's buffer in a weighted sum of the result; none where the op does not reach it.
fn gradients<A: AutodiffBackend<Plain: Readable> + Readable>(
    case: &Case,
    device: &A::Device,
) -> Result<Vec<Option<TensorData>>, Error> {
    let track = |x: Raw<A>| match A::require_grad(x.clone().into_primitive()) {
        Ok(leaf) => Raw::new(leaf),
        Err(_) => x,
    };
    let (result, buffers) = case.run::<A>(device, track);
    let result = result?;
    // A route may report a failure no sooner than this.
    result.clone().into_data()?;
    let weights = Operand::new(result.shape().clone(), result.dtype(), Fill::Tame);
    let weights = weights.place::<A>(Layout::Contiguous, 1, device, |x| x)?;
    let weighted = Raw::run(Op::Binary(
        BinaryOp::Mul,
        Arg::Tensor(result),
        Arg::Tensor(weights),
    ))?;
    let gradients = A::backward(weighted.into_primitive())?;
    let of = |x: Raw<A>| {
        let gradient = gradients.get(A::leaf(x.primitive())?)?;
        Some(Raw::<A::Plain>::new(gradient.clone()).into_data())
    };
    buffers.into_iter().map(|x| of(x).transpose()).collect()
}

fn read<B: Readable>(x: Raw<B>) -> Result<TensorData, Error> {
    x.into_data()
}

#[track_caller]
fn assert_same(direct: Result<TensorData, Error>, route: Result<TensorData, Error>, case: &dyn Debug) {
    match (direct, route) {
        (Ok(direct), Ok(route)) => assert!(
            same_bits(&direct, &route),
            "{case:?}\ndirect: {direct:?}\nroute: {route:?}"
        ),
        // The text, since a number in an error may be NaN.
        (direct, route) => assert_eq!(
            direct.map_err(|error| error.to_string()).map(drop),
            route.map_err(|error| error.to_string()).map(drop),
            "{case:?}"
        ),
    }
}
