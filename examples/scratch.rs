use keyway::op::*;
use keyway::raw::Raw;
use keyway::*;
use std::time::Instant;
type T = Raw<Flex>;
fn best(name: &str, mut f: impl FnMut()) {
    for _ in 0..3 {
        f();
    }
    let mut best = f64::MAX;
    for _ in 0..15 {
        let t = Instant::now();
        for _ in 0..5 {
            f();
        }
        best = best.min(t.elapsed().as_secs_f64() / 5.0);
    }
    println!("{name:40} {:9.1} us", best * 1e6);
}
fn main() {
    let d = FlexDevice::default();
    let rnd = |s: &[usize], dt| {
        T::create(
            CreateOp::Uniform {
                low: -3.0,
                high: 3.0,
                key: random::Key { seed: 1, offset: 0 },
            },
            s,
            DType::F32,
            &d,
        )
        .unwrap()
        .cast(dt)
        .unwrap()
    };
    let filter: Vec<String> = std::env::args().skip(1).collect();
    let b = |n: &str, f: &mut dyn FnMut()| {
        if filter.is_empty() || filter.iter().any(|x| n.contains(x.as_str())) {
            best(n, f)
        }
    };
    let x = rnd(&[1024, 1024], DType::F32);
    let y = rnd(&[1024, 1024], DType::F32);
    let row = rnd(&[1, 1024], DType::F32);
    let col = rnd(&[1024, 1], DType::F32);
    b("add 1M", &mut || drop(x.clone().add(y.clone()).unwrap()));
    b("add scalar 1M", &mut || drop(x.clone().add(1.5).unwrap()));
    b("add row 1M", &mut || drop(x.clone().add(row.clone()).unwrap()));
    b("add col 1M", &mut || drop(x.clone().add(col.clone()).unwrap()));
    {
        let mut z = Some(x.clone().add(1.0).unwrap());
        b("add in place 1M", &mut || {
            z = Some(z.take().unwrap().add(y.clone()).unwrap())
        });
    }
    for op in UnaryOp::ALL {
        if op.takes(DType::F32) {
            b(&format!("{} 1M", op.name()), &mut || {
                drop(T::run(Op::Unary(*op, x.clone())).unwrap())
            });
        }
    }
    for op in [BinaryOp::Div, BinaryOp::Pow, BinaryOp::Remainder, BinaryOp::Max] {
        b(&format!("{} 1M", op.name()), &mut || {
            drop(T::run(Op::Binary(op, Arg::Tensor(x.clone()), Arg::Tensor(y.clone()))).unwrap())
        });
    }
    b("compare 1M", &mut || {
        drop(
            T::run(Op::Compare(
                CompareOp::Lower,
                Arg::Tensor(x.clone()),
                Arg::Tensor(y.clone()),
            ))
            .unwrap(),
        )
    });
    for op in ReduceOp::ALL {
        if op.takes(DType::F32) {
            for axes in [&[0usize][..], &[1], &[0, 1]] {
                if op.is_arg() && axes.len() == 2 {
                    continue;
                }
                b(&format!("{} {axes:?} 1M", op.name()), &mut || {
                    drop(T::run(Op::Reduce(*op, x.clone(), axes.into())).unwrap())
                });
            }
        }
    }
    let thin = rnd(&[262144, 4], DType::F32);
    b("sum thin 0", &mut || {
        drop(T::run(Op::Reduce(ReduceOp::Sum, thin.clone(), [0].as_slice().into())).unwrap())
    });
    b("sum thin 1", &mut || {
        drop(T::run(Op::Reduce(ReduceOp::Sum, thin.clone(), [1].as_slice().into())).unwrap())
    });
    b("cumsum 0", &mut || {
        drop(T::run(Op::Scan(ScanOp::Sum, x.clone(), 0)).unwrap())
    });
    b("cumsum 1", &mut || {
        drop(T::run(Op::Scan(ScanOp::Sum, x.clone(), 1)).unwrap())
    });
    let (h, g) = (rnd(&[1024, 1024], DType::BF16), rnd(&[1024, 1024], DType::F16));
    b("add bf16", &mut || drop(h.clone().add(h.clone()).unwrap()));
    b("add f16", &mut || drop(g.clone().add(g.clone()).unwrap()));
    b("sum bf16", &mut || {
        drop(T::run(Op::Reduce(ReduceOp::Sum, h.clone(), [0, 1].as_slice().into())).unwrap())
    });
    for dt in [
        DType::F64,
        DType::F16,
        DType::BF16,
        DType::I32,
        DType::U8,
        DType::Bool,
    ] {
        b(&format!("cast f32 {dt}"), &mut || {
            drop(x.clone().cast(dt).unwrap())
        });
        let z = x.clone().cast(dt).unwrap();
        b(&format!("cast {dt} f32"), &mut || {
            drop(z.clone().cast(DType::F32).unwrap())
        });
    }
    b("uniform", &mut || {
        drop(
            T::create(
                CreateOp::Uniform {
                    low: 0.0,
                    high: 1.0,
                    key: random::Key { seed: 1, offset: 0 },
                },
                [1 << 20],
                DType::F32,
                &d,
            )
            .unwrap(),
        )
    });
    b("normal", &mut || {
        drop(
            T::create(
                CreateOp::Normal {
                    mean: 0.0,
                    std: 1.0,
                    key: random::Key { seed: 1, offset: 0 },
                },
                [1 << 20],
                DType::F32,
                &d,
            )
            .unwrap(),
        )
    });
    b("full", &mut || {
        drop(T::full([1usize << 20], 1.0f32, DType::F32, &d).unwrap())
    });
    if filter.iter().any(|x| x == "perm") {
        let t = T::run(Op::Move(
            MoveOp::Permute([1usize, 0].as_slice().into()),
            x.clone(),
        ))
        .unwrap();
        b("perm copy", &mut || drop(t.clone().into_data().unwrap()));
        b("perm add", &mut || drop(t.clone().add(y.clone()).unwrap()));
        let x4 = rnd(&[32, 32, 32, 32], DType::F32);
        let t = T::run(Op::Move(
            MoveOp::Permute([0usize, 2, 3, 1].as_slice().into()),
            x4.clone(),
        ))
        .unwrap();
        b("perm copy nhwc", &mut || drop(t.clone().into_data().unwrap()));
        let t = T::run(Op::Move(
            MoveOp::Permute([0usize, 2, 1, 3].as_slice().into()),
            x4.clone(),
        ))
        .unwrap();
        b("perm copy heads", &mut || drop(t.clone().into_data().unwrap()));
    }
    // tiny
    let tiny = rnd(&[1], DType::F32);
    for (n, s) in [
        ("tiny 1", 1usize),
        ("tiny 64", 64),
        ("tiny 4096", 4096),
        ("tiny 32k", 32768),
        ("tiny 64k", 65536),
        ("tiny 128k", 1 << 17),
        ("tiny 256k", 1 << 18),
    ] {
        let tiny = rnd(&[s], DType::F32);
        let k = if s == 1 { 1000 } else { 10 };
        b(&format!("{n} add x{k}"), &mut || {
            for _ in 0..k {
                drop(std::hint::black_box(tiny.clone().add(tiny.clone()).unwrap()))
            }
        });
        b(&format!("{n} exp x{k}"), &mut || {
            for _ in 0..k {
                drop(std::hint::black_box(tiny.clone().exp().unwrap()))
            }
        });
    }
    let _ = tiny;
}
