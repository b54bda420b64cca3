//! Groups of replicas: what every member gets, and what happens when one does something else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use keyway::prelude::*;
use keyway::{DType, FlexDevice, GradientReduction, GroupOptions, MeshDevice, bf16, f16, with_dtype};

type M = Mesh<Flex>;
type A = Autodiff<M>;
type Replica = MeshDevice<Flex>;

const KINDS: [ReduceKind; 5] = [
    ReduceKind::Sum,
    ReduceKind::Mean,
    ReduceKind::Max,
    ReduceKind::Min,
    ReduceKind::Prod,
];

/// Runs a function for each member, on a thread of its own that owns the device; what a member gives, by rank.
fn members<R: Send>(devices: Vec<Replica>, f: impl Fn(Replica) -> R + Sync) -> Vec<R> {
    try_members(devices, f)
        .into_iter()
        .map(|result| result.expect("no member panics"))
        .collect()
}

fn try_members<R: Send>(devices: Vec<Replica>, f: impl Fn(Replica) -> R + Sync) -> Vec<thread::Result<R>> {
    let f = &f;
    thread::scope(|scope| {
        let threads: Vec<_> = devices
            .into_iter()
            .map(|device| scope.spawn(move || f(device)))
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    })
}

fn group<R: Send>(size: usize, f: impl Fn(Replica) -> R + Sync) -> Vec<R> {
    members(Mesh::<Flex>::open(size).unwrap(), f)
}

fn tensor<B: Backend + Supports<E>, const D: usize, E: Element>(
    values: Vec<E>,
    shape: [usize; D],
    device: &B::Device,
) -> Tensor<B, D, E> {
    Tensor::try_from_data(TensorData::new(values, shape).unwrap(), device).unwrap()
}

fn values<B: Readable, const D: usize, E: Element>(x: Tensor<B, D, E>) -> Vec<E> {
    x.into_data().unwrap().into_vec().unwrap()
}

fn open(size: usize, timeout: Duration) -> Vec<Replica> {
    let options = GroupOptions {
        timeout,
        ..GroupOptions::default()
    };
    Mesh::<Flex>::open_on(vec![FlexDevice::default(); size], &options).unwrap()
}

/// Values that differ between members and elements, small enough for every element type.
fn share<E: Element>(rank: usize, len: usize) -> Vec<E> {
    (0..len)
        .map(|i| E::from_scalar(((i * 7 + rank * 3) as i64 % 5).into()))
        .collect()
}

/// The rank at fault, the parameter and the text.
#[track_caller]
fn fault<T: std::fmt::Debug>(result: Result<T, Error>) -> (usize, Option<String>, String) {
    let error = result.expect_err("a fault");
    let text = error.to_string();
    match error {
        Error::Collective { rank, param, .. } => (rank, param, text),
        other => panic!("{other}"),
    }
}

fn rank_at_fault<T: std::fmt::Debug>(result: Result<T, Error>) -> usize {
    fault(result).0
}

// Equalities

#[test]
fn case_36_all_reduce() {
    for (kind, expected) in [
        (ReduceKind::Sum, [6.0f32, 6.0]),
        (ReduceKind::Mean, [3.0, 3.0]),
        (ReduceKind::Max, [4.0, 5.0]),
        (ReduceKind::Min, [2.0, 1.0]),
        (ReduceKind::Prod, [8.0, 5.0]),
    ] {
        let results = group(2, |device| {
            let share = [[2.0f32, 5.0], [4.0, 1.0]][device.rank()];
            values(
                tensor::<M, 1, f32>(share.to_vec(), [2], &device)
                    .all_reduce(kind)
                    .unwrap(),
            )
        });
        assert_eq!(results, [expected, expected], "{kind:?}");
    }
}

#[test]
fn case_36_gradient_through_all_reduce() {
    for (kind, expected) in [(ReduceKind::Sum, [2.0f32, 2.0]), (ReduceKind::Mean, [1.0, 1.0])] {
        let results = group(2, |device| {
            let x = tensor::<A, 1, f32>(share(device.rank(), 2), [2], &device).require_grad();
            let gradients = x.clone().all_reduce(kind).unwrap().backward();
            values(x.grad(&gradients).unwrap())
        });
        assert_eq!(results, [expected, expected], "{kind:?}");
    }
}

#[test]
fn every_reduction_of_every_element_type_and_size() {
    // The longer one is reduced in chunks where there are three or more members.
    for size in [1, 2, 3, 4] {
        for len in [0, 1, 5, 5000] {
            for kind in KINDS {
                for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::Bool) {
                    if kind == ReduceKind::Mean && !dtype.is_float() {
                        continue;
                    }
                    with_dtype!(dtype, E => every_member_gets::<E>(size, len, kind));
                }
            }
        }
    }
}

fn every_member_gets<E: Element>(size: usize, len: usize, kind: ReduceKind) {
    let expected: Vec<E> = (0..len)
        .map(|i| {
            let values = (0..size).map(|rank| ((i * 7 + rank * 3) % 5) as f64);
            let value = match kind {
                ReduceKind::Sum => values.sum(),
                ReduceKind::Mean => values.sum::<f64>() / size as f64,
                ReduceKind::Max => values.fold(f64::MIN, f64::max),
                ReduceKind::Min => values.fold(f64::MAX, f64::min),
                ReduceKind::Prod => values.product(),
            };
            E::from_scalar(value.into())
        })
        .collect();
    // Run-time tensors: the typed method needs to know that E is a number.
    let results = group(size, |device| {
        let x = keyway::raw::Raw::<M>::from_data(
            TensorData::new(share::<E>(device.rank(), len), [len]).unwrap(),
            &device,
        );
        x.unwrap()
            .all_reduce(kind)
            .unwrap()
            .into_data()
            .unwrap()
            .into_vec::<E>()
            .unwrap()
    });
    for result in results {
        assert_eq!(
            result,
            expected,
            "{} of {len} {} on {size} members",
            kind.name(),
            E::DTYPE
        );
    }
}

#[test]
fn every_member_and_every_run_gets_the_same_bits() {
    // In other orders than that of ranks, these sums differ.
    let terms = [1e8f32, 1.0, -1e8, 0.25];
    let expected = ((terms[0] + terms[1]) + terms[2]) + terms[3];
    for _ in 0..20 {
        for len in [3, 5000] {
            for sum in group(4, |device| {
                let x = Tensor::<M, 1>::full([len], terms[device.rank()], &device);
                values(x.all_reduce(ReduceKind::Sum).unwrap())
            }) {
                assert!(sum.iter().all(|x| x.to_bits() == expected.to_bits()));
            }
        }
    }
}

#[test]
fn half_types_accumulate_in_f32() {
    let sums = group(4, |device| {
        let x = if device.rank() == 0 { 2048.0 } else { 1.0 };
        let (x, y) = (f16::from_f32(x), bf16::from_f32(x));
        let sum = |x| tensor::<M, 1, f16>(vec![x], [1], &device).all_reduce(ReduceKind::Sum);
        let mean = tensor::<M, 1, bf16>(vec![y], [1], &device).all_reduce(ReduceKind::Mean);
        (values(sum(x).unwrap())[0], values(mean.unwrap())[0])
    });
    // Step by step, f16 would stay at 2048: 2049 rounds back to it.
    assert_eq!(sums, [(f16::from_f32(2052.0), bf16::from_f32(2051.0 / 4.0)); 4]);
}

#[test]
fn integers_wrap_and_nan_propagates() {
    for result in group(2, |device| {
        let wrapped = tensor::<M, 1, u8>(vec![200, 16], [2], &device);
        let x = [[f32::NAN, 1.0, 1.0], [2.0, f32::NAN, 2.0]][device.rank()];
        let x = || tensor::<M, 1, f32>(x.to_vec(), [3], &device);
        (
            values(wrapped.clone().all_reduce(ReduceKind::Sum).unwrap()),
            values(wrapped.all_reduce(ReduceKind::Prod).unwrap()),
            values(x().all_reduce(ReduceKind::Max).unwrap()),
            values(x().all_reduce(ReduceKind::Min).unwrap()),
        )
    }) {
        assert_eq!((result.0, result.1), (vec![144, 32], vec![64, 0]));
        assert!(result.2[0].is_nan() && result.2[1].is_nan() && result.2[2] == 2.0);
        assert!(result.3[0].is_nan() && result.3[1].is_nan() && result.3[2] == 1.0);
    }
}

#[test]
fn broadcast_gives_the_roots_tensor() {
    for root in 0..3 {
        for result in group(3, |device| {
            let x = tensor::<M, 2, i32>(vec![device.rank() as i32; 4], [2, 2], &device);
            values(x.broadcast(root).unwrap())
        }) {
            assert_eq!(result, [root as i32; 4]);
        }
    }
}

#[test]
fn all_gather_concatenates_along_any_axis() {
    for result in group(2, |device| {
        let base = 4 * device.rank() as i32;
        let x = || tensor::<M, 2, i32>((base..base + 4).collect(), [2, 2], &device);
        let (rows, columns) = (x().all_gather(0).unwrap(), x().all_gather(1).unwrap());
        assert_eq!((rows.dims(), columns.dims()), ([4, 2], [2, 4]));
        (values(rows), values(columns))
    }) {
        assert_eq!(result.0, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(result.1, [0, 1, 4, 5, 2, 3, 6, 7]);
    }
}

#[test]
fn reduce_scatter_gives_each_member_its_part_of_the_sum() {
    let results = group(2, |device| {
        let base = 10 * device.rank() as i32;
        let x = || tensor::<M, 2, i32>((base..base + 4).collect(), [2, 2], &device);
        let scatter = |axis| values(x().reduce_scatter(axis, ReduceKind::Sum).unwrap());
        (scatter(0), scatter(1))
    });
    assert_eq!(results[0], (vec![10, 12], vec![10, 14]));
    assert_eq!(results[1], (vec![14, 16], vec![12, 16]));
}

#[test]
fn all_to_all_gives_each_member_its_part_of_every_tensor() {
    let results = group(2, |device| {
        let base = 10 * device.rank() as i32;
        let x = || tensor::<M, 2, i32>((base..base + 4).collect(), [2, 2], &device);
        let exchange = |split, concat| {
            let y = x().all_to_all(split, concat).unwrap();
            (y.dims(), values(y))
        };
        [exchange(0, 0), exchange(0, 1), exchange(1, 0), exchange(1, 1)]
    });
    let square = |values: [i32; 4]| ([2, 2], values.to_vec());
    let wide = |values: [i32; 4]| ([1, 4], values.to_vec());
    let tall = |values: [i32; 4]| ([4, 1], values.to_vec());
    assert_eq!(
        results[0],
        [
            square([0, 1, 10, 11]),
            wide([0, 1, 10, 11]),
            tall([0, 2, 10, 12]),
            square([0, 10, 2, 12])
        ]
    );
    assert_eq!(
        results[1],
        [
            square([2, 3, 12, 13]),
            wide([2, 3, 12, 13]),
            tall([1, 3, 11, 13]),
            square([1, 11, 3, 13])
        ]
    );
    let results = group(3, |device| {
        let x = tensor::<M, 2, bool>(vec![], [0, 3], &device);
        x.all_to_all(1, 0).unwrap().dims()
    });
    assert_eq!(results, [[0, 1]; 3]);
}

#[test]
fn gradients_through_all_to_all_go_back_to_where_the_parts_came_from() {
    // Upstream of member r is r + 1 for each element of its first row, and ten times as much for those of others.
    let results = group(2, |device| {
        let x = tensor::<A, 2, f32>(vec![0.0; 8], [2, 4], &device).require_grad();
        let y = x.clone().all_to_all(1, 0).unwrap();
        let rows = tensor::<A, 2, f32>(vec![1.0, 1.0, 10.0, 10.0], [4, 1], &device);
        let gradients = (y * rows * (device.rank() as f32 + 1.0)).backward();
        values(x.grad(&gradients).unwrap())
    });
    assert_eq!(results[0], [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(results[1], [10.0, 10.0, 20.0, 20.0, 10.0, 10.0, 20.0, 20.0]);
}

#[test]
fn views_are_sent_as_they_look() {
    for result in group(2, |device| {
        let x = tensor::<M, 2, i32>(vec![0, 1, 2, 3, 4, 5], [2, 3], &device).transpose();
        values(x.all_reduce(ReduceKind::Sum).unwrap())
    }) {
        assert_eq!(result, [0, 6, 2, 8, 4, 10]);
    }
}

#[test]
fn pending_results_come_in_any_order_of_waiting() {
    for result in group(3, |device| {
        let start = |len: usize| {
            Tensor::<M, 1>::full([len], len as f32, &device)
                .all_reduce_async(ReduceKind::Sum)
                .unwrap()
        };
        let (a, b, c) = (start(2), start(5000), start(3));
        let waited = if device.rank() == 1 {
            let c = c.wait();
            (a.wait(), b.wait(), c)
        } else {
            (a.wait(), b.wait(), c.wait())
        };
        [waited.0, waited.1, waited.2].map(|x| values(x.unwrap())[0])
    }) {
        assert_eq!(result, [6.0, 15000.0, 9.0]);
    }
}

#[test]
fn a_group_of_one_computes_alone() {
    for device in [Replica::default(), Mesh::<Flex>::open(1).unwrap().remove(0)] {
        assert_eq!((device.rank(), device.size()), (0, 1));
        device.barrier().unwrap();
        let x = || tensor::<M, 1, f32>(vec![1.0, 2.0], [2], &device);
        for kind in KINDS {
            assert_eq!(values(x().all_reduce(kind).unwrap()), [1.0, 2.0]);
        }
        assert_eq!(values(x().broadcast(0).unwrap()), [1.0, 2.0]);
        assert_eq!(values(x().all_gather(0).unwrap()), [1.0, 2.0]);
        assert_eq!(
            values(x().reduce_scatter(0, ReduceKind::Sum).unwrap()),
            [1.0, 2.0]
        );
        let w = Tensor::<A, 1>::ones([2], &device).set_distributed_params("w");
        let gradients = (w.clone() * 3.0).backward().sync().unwrap();
        assert_eq!(values(w.grad(&gradients).unwrap()), [3.0, 3.0]);
    }
}

#[test]
fn membership_is_part_of_the_device() {
    let (a, b) = (Mesh::<Flex>::open(2).unwrap(), Mesh::<Flex>::open(2).unwrap());
    assert_eq!(a[0], a[0].clone());
    assert_ne!(a[0], a[1]);
    assert_ne!(a[0], b[0]);
    assert_eq!(Replica::default(), Replica::default());
    let mixed = Tensor::<M, 1>::ones([1], &a[0])
        .try_apply::<1, f32>(|x| x.add(Tensor::<M, 1>::ones([1], &b[0]).into_raw()));
    assert!(matches!(mixed, Err(Error::DeviceMismatch { .. })));
    assert!(Mesh::<Flex>::open(0).is_err());
}

#[test]
fn each_rank_has_a_random_stream_of_its_own() {
    let draw = |device: &Replica| values(Tensor::<M, 1>::random([4], keyway::Distribution::Default, device));
    let first: Vec<_> = Mesh::<Flex>::open(3).unwrap().iter().map(draw).collect();
    assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
    let again = Mesh::<Flex>::open(3).unwrap();
    assert_eq!(again.iter().map(draw).collect::<Vec<_>>(), first);
    again.iter().for_each(|device| device.seed(0));
    assert_eq!(again.iter().map(draw).collect::<Vec<_>>(), first);
    again.iter().for_each(|device| device.seed(1));
    assert_ne!(draw(&again[1]), first[1]);
}

// Gradients of the operations

#[test]
fn gradients_through_broadcast_gather_and_scatter() {
    // Upstream of member r is the weight r + 1 per element, so that contributions can be told apart.
    let results = group(2, |device| {
        let weight = device.rank() as f32 + 1.0;
        let leaf = || tensor::<A, 1, f32>(vec![1.0, 2.0], [2], &device).require_grad();
        let grad = |x: &Tensor<A, 1>, y: Tensor<A, 1>| values(x.grad(&(y * weight).backward()).unwrap());
        let x = leaf();
        let broadcast = grad(&x, x.clone().broadcast(1).unwrap());
        let x = leaf();
        let gather = grad(&x, x.clone().all_gather(0).unwrap());
        let x = leaf();
        let scatter = grad(&x, x.clone().reduce_scatter(0, ReduceKind::Sum).unwrap());
        let x = leaf();
        let scatter_mean = grad(&x, x.clone().reduce_scatter(0, ReduceKind::Mean).unwrap());
        (broadcast, gather, scatter, scatter_mean)
    });
    assert_eq!(
        results[0],
        (vec![0.0; 2], vec![3.0; 2], vec![1.0, 2.0], vec![0.5, 1.0])
    );
    assert_eq!(
        results[1],
        (vec![3.0; 2], vec![3.0; 2], vec![1.0, 2.0], vec![0.5, 1.0])
    );
}

#[test]
fn independent_collectives_are_differentiated_in_the_same_order_everywhere() {
    for _ in 0..20 {
        for result in group(2, |device| {
            let x: Vec<_> = (0..8)
                .map(|i| Tensor::<A, 1>::full([2], i as f32, &device).require_grad())
                .collect();
            let reduced = x
                .iter()
                .enumerate()
                .map(|(i, x)| x.clone().all_reduce(ReduceKind::Sum).unwrap() * i as f32);
            let gradients = reduced.reduce(|a, b| a + b).unwrap().backward();
            x.iter()
                .map(|x| values(x.grad(&gradients).unwrap())[0])
                .collect::<Vec<_>>()
        }) {
            assert_eq!(result, (0..8).map(|i| 2.0 * i as f32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn extremes_and_products_of_tracked_tensors_are_refused() {
    for error in group(2, |device| {
        let x = || Tensor::<A, 1>::ones([2], &device).require_grad();
        [ReduceKind::Max, ReduceKind::Min, ReduceKind::Prod].map(|kind| x().all_reduce(kind).unwrap_err())
    })
    .into_iter()
    .flatten()
    {
        assert!(
            error.to_string().contains("has no gradient between members"),
            "{error}"
        );
    }
    // Untracked ones are not.
    group(2, |device| {
        Tensor::<A, 1>::ones([2], &device)
            .all_reduce(ReduceKind::Max)
            .unwrap()
    });
}

// Gradients of parameters

/// `w·(rank + 1)` and, where `uses_b`, `b·10`: gives the synchronised gradients of w and b.
fn step(
    device: &Replica,
    uses_b: bool,
    reduction: Option<GradientReduction>,
) -> Result<[Option<f32>; 2], Error> {
    let w = Tensor::<A, 1>::ones([2], device).set_distributed_params("w");
    let b = Tensor::<A, 1>::ones([2], device).set_distributed_params("b");
    let mut loss = w.clone() * (device.rank() as f32 + 1.0);
    if uses_b {
        loss = loss + b.clone() * 10.0;
    }
    let gradients = match reduction {
        Some(reduction) => loss.backward().sync_with(reduction)?,
        None => loss.backward_synced()?,
    };
    Ok([&w, &b].map(|x| x.grad(&gradients).map(|grad| values(grad)[0])))
}

#[test]
fn case_32_a_parameter_unused_on_one_member() {
    for reduction in [Some(GradientReduction::Mean), None] {
        let results = group(2, |device| step(&device, device.rank() == 1, reduction).unwrap());
        assert_eq!(results, [[Some(1.5), Some(5.0)]; 2]);
    }
    let sums = group(2, |device| {
        step(&device, device.rank() == 1, Some(GradientReduction::Sum)).unwrap()
    });
    assert_eq!(sums, [[Some(3.0), Some(10.0)]; 2]);
}

#[test]
fn a_parameter_unused_everywhere_has_no_gradient() {
    for reduction in [Some(GradientReduction::Mean), None] {
        assert_eq!(
            group(3, |device| step(&device, false, reduction).unwrap()),
            [[Some(2.0), None]; 3]
        );
    }
}

#[test]
fn backward_synced_is_backward_and_sync() {
    // More than a bucket's worth, and each member uses them in another order.
    let train = |device: Replica, overlapped: bool| {
        let params: Vec<_> = (0..12)
            .map(|i| {
                Tensor::<A, 1>::full([60_000], i as f32, &device)
                    .set_distributed_params(format!("p{i:02}").as_str())
            })
            .collect();
        let mut order: Vec<_> = (0..12).collect();
        order.rotate_left(3 * device.rank());
        let scale = device.rank() as f32 - 0.3;
        let terms = order
            .iter()
            .filter(|&&i| i != 5)
            .map(|&i| (params[i].clone() * scale).sin());
        let loss = terms.reduce(|a, b| a * 0.5 + b).unwrap();
        let gradients = if overlapped {
            loss.backward_synced().unwrap()
        } else {
            loss.backward().sync().unwrap()
        };
        let grads = params.iter().map(|p| p.grad(&gradients).map(values));
        grads.collect::<Vec<_>>()
    };
    for size in [2, 3] {
        let (plain, overlapped) = (group(size, |d| train(d, false)), group(size, |d| train(d, true)));
        assert!(plain == overlapped && plain[0] == plain[1]);
        assert_eq!(plain[0].iter().filter(|grad| grad.is_none()).count(), 1);
    }
}

#[test]
fn local_code_is_the_same_code() {
    fn grad<B: PlainBackend + Readable>(device: &B::Device) -> [Vec<f32>; 2] {
        let x = Tensor::<Autodiff<B>, 1>::ones([1], device).require_grad();
        let first = (x.clone() * 2.0).backward().sync().unwrap();
        let second = (x.clone() * 3.0).backward_synced().unwrap();
        [values(x.grad(&first).unwrap()), values(x.grad(&second).unwrap())]
    }
    assert_eq!(grad::<Flex>(&Default::default()), [[2.0], [3.0]]);
    assert_eq!(grad::<M>(&Default::default()), [[2.0], [3.0]]);
}

#[test]
fn case_34_micro_batches_with_varying_branches() {
    // Micro-batch 1 uses a, micro-batch 2 uses b, and the second member has no use for b at all.
    let results = group(2, |device| {
        let leaf = |id| Tensor::<A, 1>::ones([1], &device).set_distributed_params(id);
        let (a, b, c) = (leaf("a"), leaf("b"), leaf("c"));
        let first = (a.clone() * 2.0).backward();
        let second = if device.rank() == 0 {
            b.clone() * 4.0
        } else {
            a.clone() * 6.0
        }
        .backward();
        let gradients = first.accumulate(second).unwrap().sync().unwrap();
        [a, b, c].map(|x| x.grad(&gradients).map(|grad| values(grad)[0]))
    });
    assert_eq!(results, [[Some(5.0), Some(2.0), None]; 2]);
}

#[test]
fn case_35_checkpointing_reduces_each_parameter_once() {
    fn grads<S: keyway::autodiff::Strategy>() -> Vec<Vec<f32>> {
        group(2, |device| {
            let w =
                tensor::<Autodiff<M, S>, 2, f32>(share(0, 9), [3, 3], &device).set_distributed_params("w");
            let mut x = tensor::<Autodiff<M, S>, 2, f32>(share(device.rank(), 9), [3, 3], &device);
            for _ in 0..3 {
                x = (x.matmul(w.clone()) * 0.1).tanh().exp();
            }
            let gradients = x.backward().sync_with(GradientReduction::Sum).unwrap();
            values(w.grad(&gradients).unwrap())
        })
    }
    let (kept, recomputed) = (grads::<NoCheckpointing>(), grads::<BalancedCheckpointing>());
    assert_eq!(kept, recomputed);
    assert_eq!(kept[0], kept[1]);
}

#[test]
fn case_37_a_second_group_is_neither_disturbed_nor_ignored() {
    let (broken, sound) = (Mesh::<Flex>::open(2).unwrap(), Mesh::<Flex>::open(2).unwrap());
    let pairs: Vec<_> = broken.into_iter().zip(sound).collect();
    thread::scope(|scope| {
        for (broken, sound) in pairs {
            scope.spawn(move || {
                let sum = |x: f32, device: &Replica| {
                    Tensor::<M, 1>::full([1], x, device).all_reduce(ReduceKind::Sum)
                };
                assert_eq!(values(sum(1.0, &broken).unwrap()), [2.0]);
                assert_eq!(values(sum(10.0 + sound.rank() as f32, &sound).unwrap()), [21.0]);
                let len = 1 + broken.rank();
                Tensor::<M, 1>::ones([len], &broken)
                    .all_reduce(ReduceKind::Sum)
                    .unwrap_err();
                sound.barrier().unwrap();
                broken.barrier().unwrap_err();
                assert_eq!(values(sum(3.0, &sound).unwrap()), [6.0]);
            });
        }
    });
}

#[test]
fn case_38_a_member_without_parameters_does_not_make_the_others_wait() {
    for overlapped in [false, true] {
        let start = Instant::now();
        for (rank, param, text) in group(3, |device| {
            let x = Tensor::<A, 1>::ones([1], &device).require_grad();
            let x = if device.rank() == 1 {
                x
            } else {
                x.set_distributed_params("w")
            };
            fault(if overlapped {
                x.backward_synced()
            } else {
                x.backward().sync()
            })
        }) {
            assert_eq!((rank, param.as_deref()), (1, Some("w")), "{text}");
            assert!(text.contains("does not have it"), "{text}");
        }
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    // If no member has any, there is nothing to do.
    for result in group(2, |device| {
        let x = Tensor::<A, 1>::full([1], 1.0, &device).require_grad();
        let gradients = (x.clone() * (device.rank() as f32)).backward().sync().unwrap();
        values(x.grad(&gradients).unwrap())[0]
    })
    .into_iter()
    .enumerate()
    .map(|(rank, grad)| (rank as f32, grad))
    {
        assert_eq!(result.0, result.1);
    }
}

#[test]
fn a_name_claimed_by_two_live_tensors_of_different_shapes_is_refused() {
    let device = Replica::default();
    let w = Tensor::<A, 1>::ones([2], &device).set_distributed_params("w");
    drop(Tensor::<A, 1>::ones([3], &Replica::default()).set_distributed_params("w")); // has a registry of its own
    let claim = || Tensor::<A, 1>::ones([3], &device).set_distributed_params("w");
    let claim = catch_unwind(AssertUnwindSafe(claim));
    let text = *claim.unwrap_err().downcast::<String>().unwrap();
    assert!(
        text.contains("`w`") && text.contains("f32 [2]") && text.contains("f32 [3]"),
        "{text}"
    );
    assert_eq!(device.member().params().len(), 1);
    drop(w);
    assert_eq!(
        device.member().params().len(),
        0,
        "a registration lives as long as its leaf"
    );
    drop(Tensor::<A, 1>::ones([3], &device).set_distributed_params("w"));
}

#[test]
fn a_leaf_has_one_name() {
    let device = Replica::default();
    let w = Tensor::<A, 1>::ones([2], &device).set_distributed_params("w");
    assert!(w.clone().try_set_distributed_params("w").is_ok());
    let error = w.clone().try_set_distributed_params("v").unwrap_err();
    assert!(
        error.to_string().contains("the leaf is the parameter `w`"),
        "{error}"
    );
    assert!(w.detach().try_set_distributed_params("v").is_ok());
}

/// Only one of them could be synchronised.
#[test]
fn two_leaves_of_one_name_in_a_graph_are_refused() {
    let device = Replica::default();
    let leaf = || Tensor::<A, 1>::ones([2], &device).set_distributed_params("w");
    let (old, new) = (leaf(), leaf());
    let error = (old.clone() * new.clone()).try_backward().unwrap_err();
    assert!(
        error.to_string().contains("two leaves are the parameter `w`"),
        "{error}"
    );
    let [old, new] = [old, new].map(|w| (w * 2.0).backward());
    assert!(old.accumulate(new).is_err());
}

#[test]
fn an_updated_parameter_replaces_the_old_one() {
    for result in group(2, |device| {
        let mut w = Tensor::<A, 1>::ones([1], &device).set_distributed_params("w");
        for _ in 0..3 {
            let gradients = (w.clone() * (device.rank() as f32 + 1.0))
                .backward()
                .sync()
                .unwrap();
            let updated = w.clone().inner() - w.grad(&gradients).unwrap() * 0.5;
            w = Tensor::from_inner(updated).set_distributed_params("w");
        }
        values(w)[0]
    }) {
        assert_eq!(result, 1.0 - 3.0 * 0.75);
    }
}

// Faults

#[test]
fn another_shape_dtype_operation_or_argument_is_an_error_on_all() {
    type Run = fn(&Replica) -> Result<(), Error>;
    fn all_reduce<E: NumericElement>(device: &Replica, len: usize, kind: ReduceKind) -> Result<(), Error> {
        tensor::<M, 1, E>(share(0, len), [len], device)
            .all_reduce(kind)
            .map(drop)
    }
    let norm: Run = |device| all_reduce::<f32>(device, 2, ReduceKind::Sum);
    let odd: [(Run, &str); 5] = [
        (|device| all_reduce::<f32>(device, 3, ReduceKind::Sum), "f32 [3]"),
        (|device| all_reduce::<i32>(device, 2, ReduceKind::Sum), "i32 [2]"),
        (
            |device| all_reduce::<f32>(device, 2, ReduceKind::Mean),
            "all_reduce(mean)",
        ),
        (|device| device.barrier(), "barrier"),
        (
            |device| {
                tensor::<M, 1, f32>(share(0, 2), [2], device)
                    .broadcast(0)
                    .map(drop)
            },
            "broadcast(root 0)",
        ),
    ];
    for (run, text) in odd {
        for at_fault in 0..3 {
            let results = group(3, |device| {
                let result = if device.rank() == at_fault {
                    run(&device)
                } else {
                    norm(&device)
                };
                (fault(result), device.barrier())
            });
            for ((rank, _, message), later) in results {
                assert_eq!(rank, at_fault);
                assert!(message.contains(text), "{message}");
                assert_eq!(fault(later).2, message, "later calls return the first cause");
            }
        }
    }
}

#[test]
fn another_order_is_an_error_on_all() {
    for rank in group(2, |device| {
        let (a, b) = (
            Tensor::<M, 1>::ones([2], &device),
            Tensor::<M, 1>::ones([3], &device),
        );
        let (first, second) = if device.rank() == 0 { (a, b) } else { (b, a) };
        rank_at_fault(
            first
                .all_reduce(ReduceKind::Sum)
                .and_then(|_| second.all_reduce(ReduceKind::Sum)),
        )
    }) {
        assert_eq!(rank, 1);
    }
}

#[test]
fn another_parameter_shape_or_dtype_names_the_parameter() {
    fn sync<E: FloatElement>(device: &Replica, id: &str, len: usize) -> Result<(), Error>
    where
        M: Supports<E>,
    {
        let shared = tensor::<A, 1, f32>(vec![1.0], [1], device).set_distributed_params("a");
        let x = tensor::<A, 1, E>(share(0, len), [len], device).set_distributed_params(id);
        x.backward().accumulate(shared.backward())?.sync().map(drop)
    }
    for (odd, param, text) in [
        (
            (|device| sync::<f32>(device, "w", 3)) as fn(&Replica) -> Result<(), Error>,
            "w",
            "f32 [3]",
        ),
        (|device| sync::<f64>(device, "w", 2), "w", "f64 [2]"),
        (|device| sync::<f32>(device, "b", 2), "b", "f32 [2]"),
        (|device| sync::<f32>(device, "x", 2), "w", "does not have it"),
    ] {
        for (rank, named, message) in group(3, |device| {
            fault(if device.rank() == 2 {
                odd(&device)
            } else {
                sync::<f32>(&device, "w", 2)
            })
        }) {
            assert_eq!((rank, named.as_deref()), (2, Some(param)), "{message}");
            assert!(message.contains(text), "{message}");
        }
    }
}

#[test]
fn case_33_a_member_that_never_comes() {
    let timeout = Duration::from_millis(200);
    let mut devices = open(3, timeout);
    let absent = devices.remove(1);
    let start = Instant::now();
    for (rank, _, text) in members(devices, |device| {
        let first = fault(device.barrier());
        let again = Instant::now();
        assert_eq!(fault(device.barrier()), first);
        assert!(again.elapsed() < timeout / 2, "later calls do not wait");
        first
    }) {
        assert_eq!(rank, 1);
        assert!(text.contains("did not take part within 200ms"), "{text}");
    }
    let waited = start.elapsed();
    assert!(waited >= timeout && waited < timeout * 10, "{waited:?}");
    // Too late: it learns the same at once.
    assert_eq!(rank_at_fault(absent.barrier()), 1);
}

#[test]
fn case_33_a_member_that_leaves_early_is_noticed_at_once() {
    let start = Instant::now();
    let results = group(3, |device| {
        device.barrier().unwrap();
        if device.rank() == 2 {
            return None;
        }
        Some(fault(
            Tensor::<M, 1>::ones([5000], &device).all_reduce(ReduceKind::Sum),
        ))
    });
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "not only at the timeout of 60 s"
    );
    for (rank, _, text) in results.into_iter().flatten() {
        assert_eq!(rank, 2);
        assert!(text.contains("left the group"), "{text}");
    }
}

#[test]
fn case_33_a_member_with_fewer_batches() {
    let results = group(2, |device| {
        let w = Tensor::<A, 1>::ones([1], &device).set_distributed_params("w");
        let batches = 3 - device.rank();
        (0..batches)
            .map(|_| (w.clone() * 2.0).backward().sync().map(drop))
            .collect::<Vec<_>>()
    });
    assert!(results[1].iter().all(Result::is_ok));
    assert!(results[0][..2].iter().all(Result::is_ok));
    assert_eq!(rank_at_fault(results[0][2].clone()), 1);
}

#[test]
fn a_panicking_member_is_noticed_at_once() {
    let start = Instant::now();
    let results = try_members(Mesh::<Flex>::open(3).unwrap(), |device| {
        let x = Tensor::<M, 1>::ones([2], &device);
        device.barrier().unwrap();
        if device.rank() == 0 {
            std::panic::resume_unwind(Box::new("as a bug would"));
        }
        fault(x.all_reduce(ReduceKind::Sum))
    });
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(results[0].is_err());
    for result in results.into_iter().skip(1) {
        let (rank, _, text) = result.unwrap();
        assert_eq!(rank, 0);
        assert!(text.contains("panicked"), "{text}");
    }
}

#[test]
fn arguments_are_checked_before_anyone_is_asked() {
    for device in &Mesh::<Flex>::open(2).unwrap() {
        let x = || tensor::<M, 1, i32>(vec![1, 2, 3], [3], device);
        assert!(matches!(
            x().all_reduce(ReduceKind::Mean),
            Err(Error::DType { .. })
        ));
        assert!(matches!(x().broadcast(2), Err(Error::Argument { .. })));
        assert!(matches!(x().all_gather(1), Err(Error::Argument { .. })));
        assert!(matches!(
            x().reduce_scatter(0, ReduceKind::Sum),
            Err(Error::Shape { .. })
        ));
        assert!(matches!(x().all_to_all(0, 0), Err(Error::Shape { .. })));
        assert!(matches!(x().all_to_all(1, 0), Err(Error::Argument { .. })));
        assert!(matches!(x().all_to_all(0, 1), Err(Error::Shape { .. })));
        let y = tensor::<M, 1, i32>(vec![1, 2], [2], device);
        assert!(matches!(y.all_to_all(0, 1), Err(Error::Argument { .. })));
    }
}
