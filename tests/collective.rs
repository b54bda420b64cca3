//! Groups of replicas: what every member gets, and what happens when one does something else.

use std::thread;
use std::time::{Duration, Instant};

use keyway::prelude::*;
use keyway::{DType, Error, GradientReduction, GroupOptions, MeshDevice, Scalar, bf16, f16};

type M = Mesh<Flex>;
type Device = MeshDevice<Flex>;

const KINDS: [ReduceKind; 5] = [
    ReduceKind::Sum,
    ReduceKind::Mean,
    ReduceKind::Max,
    ReduceKind::Min,
    ReduceKind::Prod,
];

/// Runs a function for each member, on a thread of its own that owns the device; what a member gives, by rank.
fn members<R: Send>(devices: Vec<Device>, f: impl Fn(Device) -> R + Sync) -> Vec<R> {
    try_members(devices, f)
        .into_iter()
        .map(|result| result.expect("no member panics"))
        .collect()
}

fn try_members<R: Send>(devices: Vec<Device>, f: impl Fn(Device) -> R + Sync) -> Vec<thread::Result<R>> {
    let f = &f;
    thread::scope(|scope| {
        let threads: Vec<_> = devices
            .into_iter()
            .map(|device| scope.spawn(move || f(device)))
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    })
}

fn group<R: Send>(size: usize, f: impl Fn(Device) -> R + Sync) -> Vec<R> {
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
