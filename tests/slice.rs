//! The design in one page: one training step of six ops through a typed collective backend, a run-time dispatch and a
//! recording, deferred backend. The latter two (in `support/`) know no single op.

#[path = "support/deferred.rs"]
mod deferred;
#[path = "support/either.rs"]
mod either;

use std::thread;

use deferred::Deferred;
use either::{Either, EitherDevice};
use keyway::Error;
use keyway::prelude::*;

/// Marks a leaf as a parameter, on a backend that can.
type Mark<B> = fn(Tensor<Autodiff<B>, 2>, &str) -> Tensor<Autodiff<B>, 2>;

/// One step of gradient descent on `sum(gather(exp(x w + b)))`; gives the new weights.
fn step<B: PlainBackend + Readable>(
    share: f32,
    device: &B::Device,
    mark: Mark<B>,
) -> Result<Vec<f32>, Error> {
    let x = Tensor::<Autodiff<B>, 2>::from_array([[share, 1.0], [0.5, -0.25]], device);
    let w = Tensor::<Autodiff<B>, 2>::from_array([[0.5, 0.25, -1.0], [1.0, -0.5, 2.0]], device);
    let (w, b) = (mark(w, "w"), mark(Tensor::full([1, 3], 0.125, device), "b"));
    let picks = Tensor::<Autodiff<B>, 2, i32>::from_array([[0, 2, 2], [1, 1, 0]], device);
    let loss = (x.matmul(w.clone()) + b.clone()).exp().gather(1, picks).sum();
    let gradients = loss.backward().sync()?;
    let slope = w.grad(&gradients).expect("the loss depends on w") + b.grad(&gradients).expect("and on b");
    (w.inner() - slope * 0.1).into_vec()
}

fn expected() -> Vec<f32> {
    alone(2.0)
}

fn alone(share: f32) -> Vec<f32> {
    step::<Flex>(share, &Default::default(), |w, _| w.require_grad()).unwrap()
}

#[test]
fn gradients_are_those_of_the_formula() {
    // d/dw of exp(h) picked with multiplicities m is xᵀ (m exp(h)), d/db its sum over rows.
    let (x, w) = (
        [[2.0f64, 1.0], [0.5, -0.25]],
        [[0.5, 0.25, -1.0], [1.0, -0.5, 2.0]],
    );
    let multiplicity = [[1.0, 0.0, 2.0], [1.0, 2.0, 0.0]];
    let grad_h =
        |r: usize, c: usize| multiplicity[r][c] * (x[r][0] * w[0][c] + x[r][1] * w[1][c] + 0.125f64).exp();
    let updated = (0..6).map(|i| {
        let (k, c) = (i / 3, i % 3);
        let slope: f64 = (0..2).map(|r| (x[r][k] + 1.0) * grad_h(r, c)).sum();
        w[k][c] - 0.1 * slope
    });
    for (got, expected) in expected().into_iter().zip(updated) {
        assert!(
            (f64::from(got) - expected).abs() < 1e-6 * expected.abs().max(1.0),
            "{got} is not {expected}"
        );
    }
}

#[test]
fn two_replicas_step_alike() {
    let devices = Mesh::<Flex>::open(2).unwrap();
    let replica = |(rank, device)| {
        move || {
            let mark: Mark<Mesh<Flex>> = |w, id| w.set_distributed_params(id);
            step(1.0 + rank as f32, &device, mark).unwrap()
        }
    };
    let threads: Vec<_> = devices
        .into_iter()
        .enumerate()
        .map(replica)
        .map(thread::spawn)
        .collect();
    let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(results[0], results[1]);
    // A step is linear in the gradient: with the mean of both gradients it ends in the mean of both ends.
    for ((got, one), two) in results[0].iter().zip(alone(1.0)).zip(alone(2.0)) {
        let expected = (one + two) / 2.0;
        assert!(
            (got - expected).abs() <= 1e-5 * expected.abs().max(1.0),
            "{got} is not {expected}"
        );
    }
}

#[test]
fn run_time_dispatch_gives_the_same() {
    let mesh = Mesh::<Flex>::open(1).unwrap().remove(0);
    for device in [EitherDevice::One(Default::default()), EitherDevice::Other(mesh)] {
        assert_eq!(
            step::<Either>(2.0, &device, |w, _| w.require_grad()).unwrap(),
            expected()
        );
    }
}

#[test]
fn run_time_dispatch_refuses_a_mix() {
    let mesh = EitherDevice::Other(Mesh::<Flex>::open(1).unwrap().remove(0));
    let here = Tensor::<Either, 1>::ones([2], &EitherDevice::One(Default::default()));
    let there = Tensor::<Either, 1>::ones([2], &mesh);
    let result: Result<Tensor<Either, 1>, _> = here.try_apply(|x| x.add(there.into_raw()));
    assert!(matches!(
        result,
        Err(Error::BackendMismatch { .. } | Error::DeviceMismatch { .. })
    ));
}

#[test]
fn recording_executes_nothing_until_it_is_read() {
    assert_eq!(
        step::<Deferred>(2.0, &Default::default(), |w, _| w.require_grad()).unwrap(),
        expected()
    );
    let x = Tensor::<Deferred, 1>::ones([3], &Default::default()).exp();
    assert_eq!(x.dims(), [3]);
    assert!(!x.raw().primitive().is_done());
    assert_eq!(x.into_vec().unwrap(), [std::f32::consts::E; 3]);
}
