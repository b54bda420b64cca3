//! Training on `LibTorch` leaks nothing. A process of its own: other tests would take memory meanwhile.
#![cfg(feature = "tch")]

use std::fs;

use keyway::prelude::*;

/// Every step makes tensors, views, a graph and gradients, and lets them go.
#[test]
fn ten_thousand_steps_take_no_memory() {
    type B = Autodiff<LibTorch>;
    // Small products: on a busy machine the threads of libtorch would wait for each other most of the time.
    tch::set_num_threads(1);
    let device = LibTorchDevice::new(3);
    let random = |shape: [usize; 2]| Tensor::<B, 2>::random(shape, Distribution::Default, &device);
    let (x, target) = (random([16, 8]), random([16, 4]));
    let (mut w, mut v) = (random([8, 32]), random([32, 4]));
    let mut step = || {
        let (a, b) = (w.clone().require_grad(), v.clone().require_grad());
        let hidden = x.clone().matmul(a.clone()).tanh().transpose().transpose();
        let loss = (hidden.matmul(b.clone()) - target.clone()).powi(2).mean();
        let gradients = loss.backward();
        let sgd = |p: &Tensor<B, 2>| {
            let grad = p.grad(&gradients).expect("the loss depends on it");
            Tensor::from_inner(p.clone().inner() - grad * 0.01)
        };
        (w, v) = (sgd(&a), sgd(&b));
    };
    (0..1000).for_each(|_| step());
    let before = resident();
    (0..10_000).for_each(|_| step());
    let grown = resident().saturating_sub(before);
    // A leak of the smallest tensor of a step, 128 bytes and what libtorch keeps beside it, would be 4 MiB.
    assert!(grown < 2 << 10, "{grown} KiB more after 10,000 steps");
}

/// The memory of this process, in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .expect("the kernel says it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
