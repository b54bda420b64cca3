//! What the types cost: a typed call beside the backend's kernel, a call on a run-time backend and a tracked one beside
//! it; with the feature `tch`, also a typed call beside one of the engine's own. Best of fifteen rounds in which every
//! contender has its turn; nanoseconds. `cargo bench --bench overhead`

use std::hint::black_box;
use std::time::{Duration, Instant};

use keyway::backend::{Backend, BackendTypes};
use keyway::op::{Arg, BinaryOp, Meta, Op, UnaryOp};
use keyway::prelude::*;
use keyway::{DType, Dyn, DynDevice, Shape};

type Contender<'a> = (&'a str, Box<dyn Fn() + 'a>);
type Value = <Flex as BackendTypes>::Primitive;

fn main() {
    let device = Default::default();
    let plain = Tensor::<Flex, 1>::full([1], 0.5, &device);
    let dynamic = Tensor::<Dyn, 1>::full([1], 0.5, &DynDevice::default());
    let untracked = Tensor::<Autodiff<Flex>, 1>::full([1], 0.5, &device);
    let tracked = untracked.clone().require_grad();
    let value: Value = plain.raw().primitive().clone();
    let meta = Meta {
        shape: Shape::from([1]),
        dtype: DType::F32,
    };
    let host = vec![0.5f32];

    let add = |x: Value, y: Value| {
        Flex::execute(Op::Binary(BinaryOp::Add, Arg::Tensor(x), Arg::Tensor(y)), &meta).expect("add")
    };
    let exp = |x: Value| Flex::execute(Op::Unary(UnaryOp::Exp, x), &meta).expect("exp");
    #[allow(unused_mut)]
    let mut contenders: Vec<Contender> = vec![
        (
            "add: allocate and loop",
            Box::new(|| {
                black_box(
                    host.iter()
                        .zip(&host)
                        .map(|(a, b)| black_box(a) + b)
                        .collect::<Vec<f32>>(),
                );
            }),
        ),
        (
            "add: the backend's kernel",
            Box::new(|| {
                black_box(add(value.clone(), value.clone()));
            }),
        ),
        (
            "add: typed",
            Box::new(|| {
                black_box(plain.clone() + plain.clone());
            }),
        ),
        (
            "add: typed, on Dyn",
            Box::new(|| {
                black_box(dynamic.clone() + dynamic.clone());
            }),
        ),
        (
            "add: typed, on Autodiff, untracked",
            Box::new(|| {
                black_box(untracked.clone() + untracked.clone());
            }),
        ),
        (
            "add: typed, on Autodiff, tracked",
            Box::new(|| {
                black_box(tracked.clone() + tracked.clone());
            }),
        ),
        (
            "exp: the backend's kernel",
            Box::new(|| {
                black_box(exp(value.clone()));
            }),
        ),
        (
            "exp: typed",
            Box::new(|| {
                black_box(plain.clone().exp());
            }),
        ),
        (
            "exp: typed, on Dyn",
            Box::new(|| {
                black_box(dynamic.clone().exp());
            }),
        ),
        (
            "exp: typed, on Autodiff, tracked",
            Box::new(|| {
                black_box(tracked.clone().exp());
            }),
        ),
    ];
    #[cfg(feature = "tch")]
    contenders.extend(of_libtorch());
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..15 {
        for ((_, f), best) in contenders.iter().zip(&mut best) {
            *best = best.min(time(f));
        }
    }
    for ((name, _), best) in contenders.iter().zip(best) {
        println!("{name:<40} {best:>7.1} ns");
    }
}

#[cfg(feature = "tch")]
fn of_libtorch() -> [Contender<'static>; 4] {
    let [x, y] = [0.5f32, 0.5].map(|value| tch::Tensor::from_slice(&[value]));
    let [a, b] = [0.5, 0.5].map(|value| Tensor::<LibTorch, 1>::full([1], value, &Default::default()));
    [
        (
            "add: tch",
            Box::new(move || {
                let _ = black_box(x.f_add(&x).expect("add"));
            }),
        ),
        (
            "add: typed, on LibTorch",
            Box::new(move || {
                black_box(a.clone() + a.clone());
            }),
        ),
        (
            "exp: tch",
            Box::new(move || {
                let _ = black_box(y.f_exp().expect("exp"));
            }),
        ),
        (
            "exp: typed, on LibTorch",
            Box::new(move || {
                black_box(b.clone().exp());
            }),
        ),
    ]
}

fn time(f: &dyn Fn()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0u32);
    while start.elapsed() < Duration::from_millis(20) {
        for _ in 0..1000 {
            f();
        }
        calls += 1000;
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}
