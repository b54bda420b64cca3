//! What recomputation saves. The only test of this binary: it counts every byte that the process holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use keyway::autodiff::Strategy;
use keyway::prelude::*;

/// Counts live bytes and their peak.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is the system allocator's own, with the caller's arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak over what was live before, and the result.
fn peak<T>(f: impl FnOnce() -> T) -> (usize, T) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = f();
    (PEAK.load(Relaxed) - before, result)
}

const BLOCKS: usize = 8;
const SIZE: usize = 128;

/// Eight blocks of a matmul and four element-wise ops. Gives the peak of a training step's bytes, and the gradients.
fn train<S: Strategy>() -> (usize, Vec<Vec<f32>>) {
    let device = Default::default();
    let values = |seed: usize| {
        let value = |i: usize| ((i * 31 + seed * 17) % 101) as f32 / 1000.0 - 0.05;
        (0..SIZE * SIZE).map(value).collect()
    };
    let tensor = |seed| Tensor::<Autodiff<Flex, S>, 2>::from_vec(values(seed), [SIZE, SIZE], &device);
    let x = tensor(0);
    let weights: Vec<_> = (1..=BLOCKS).map(|seed| tensor(seed).require_grad()).collect();
    let step = || {
        let block = |x: Tensor<_, 2>, w: &Tensor<_, 2>| {
            let y: Tensor<Autodiff<Flex, S>, 2> = Tensor::matmul(x, w.clone());
            (activation::sigmoid(y.clone()) * y + 0.1).tanh()
        };
        let loss = weights.iter().fold(x.clone(), block).mean();
        loss.backward()
    };
    step(); // What is allocated once per process, such as threads, is not the tape's.
    let (bytes, gradients) = peak(step);
    let gradient = |w: &Tensor<_, 2>| Tensor::into_vec(w.grad(&gradients).unwrap()).unwrap();
    (bytes, weights.iter().map(gradient).collect())
}

#[test]
fn balanced_keeps_less_for_the_same_gradients() {
    let (all, expected) = train::<NoCheckpointing>();
    let (some, gradients) = train::<BalancedCheckpointing>();
    assert_eq!(gradients, expected);
    let (all, some) = (all as f64, some as f64);
    println!(
        "peak of a step: {all} bytes, balanced {some}: {:.0} %",
        100.0 * some / all
    );
    assert!(some <= 0.6 * all, "{some} of {all} bytes");

    // A long run of ops whose results nobody reads costs nothing to recompute.
    let x = Tensor::<Autodiff<Flex, BalancedCheckpointing>, 1>::ones([10_000], &Default::default())
        .require_grad();
    let run = || (0..100).fold(x.clone(), |y, _| y + 0.01).exp().sum().backward();
    let (bytes, _) = peak(run);
    assert!(bytes < 12 * 4 * 10_000, "{bytes} bytes");
}
