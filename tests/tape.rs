//! The graph: deep chains, shared nodes, threads, nested passes, notice of complete leaves.

use std::sync::Mutex;
use std::thread;

use keyway::autodiff::Strategy;
use keyway::prelude::*;
use keyway::raw::Raw;

type Diff<S = NoCheckpointing> = Autodiff<Flex, S>;

fn leaf<S: Strategy>(value: f32) -> Tensor<Diff<S>, 1> {
    Tensor::from_array([value], &Default::default()).require_grad()
}

fn gradient<S: Strategy>(y: Tensor<Diff<S>, 1>, x: &Tensor<Diff<S>, 1>) -> f32 {
    let gradient = x.grad(&y.backward()).expect("x has a gradient");
    gradient.into_vec().unwrap()[0]
}

/// Runs on a thread with a stack that no recursion over the graph would fit in.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let builder = thread::Builder::new().stack_size(256 << 10);
    builder.spawn(f).unwrap().join().unwrap();
}

const DEEP: usize = 100_000;

fn deep<S: Strategy>() {
    on_a_small_stack(|| {
        // One operand of each op is tracked, and its value is read.
        let x = leaf::<S>(1.0);
        let y = (0..DEEP).fold(x.clone(), |y, _| y * 1.0);
        assert_eq!(gradient(y, &x), 1.0);

        // The last value is read; under recomputation it hangs on all before.
        let y = (0..DEEP).fold(x.clone(), |y, _| y + 0.0).exp();
        assert_eq!(gradient(y, &x), 1f32.exp());

        // Each result is read.
        let y = (0..DEEP).fold(x.clone(), |y, _| y.tanh());
        assert!(gradient(y, &x).is_finite());

        // A node with two edges to the one before: exponentially many paths.
        let x = leaf::<S>(0.0);
        let y = (0..DEEP).fold(x.clone(), |y, _| (y.clone() + y) * 0.5);
        assert_eq!(gradient(y, &x), 1.0);

        // Dropped without a backward pass, and while a clone holds on to the middle.
        let mut middle = None;
        let y = (0..DEEP).fold(x.clone(), |y, i| {
            if i == DEEP / 2 {
                middle = Some(y.clone());
            }
            y.exp()
        });
        drop(y);
        drop(middle);
    });
}

#[test]
fn chains_of_100_000_ops() {
    deep::<NoCheckpointing>();
}

#[test]
fn chains_of_100_000_ops_with_recomputation() {
    deep::<BalancedCheckpointing>();
}

#[test]
fn doubling_100_000_times() {
    fn double<S: Strategy>() {
        on_a_small_stack(|| {
            let x = leaf::<S>(0.0);
            let y = (0..DEEP).fold(x.clone(), |y, _| y.clone() + y);
            assert_eq!(gradient(y, &x), f32::INFINITY);
        });
    }
    double::<NoCheckpointing>();
    double::<BalancedCheckpointing>();
}

#[test]
fn case_30_two_passes_at_once() {
    let x = leaf::<NoCheckpointing>(3.0);
    let shared = x.clone().exp();
    let gradients = thread::scope(|scope| {
        let pass = |factor: f32| {
            let (x, shared) = (x.clone(), shared.clone());
            scope.spawn(move || {
                (0..200)
                    .map(|_| gradient(shared.clone() * factor, &x))
                    .collect::<Vec<_>>()
            })
        };
        [pass(1.0), pass(2.0)].map(|thread| thread.join().unwrap())
    });
    for (factor, got) in [1.0, 2.0].into_iter().zip(gradients) {
        let expected = 3f32.exp() * factor;
        assert!(got.iter().all(|g| (g - expected).abs() < 1e-4), "{got:?}");
    }
}

#[test]
fn case_30_a_pass_inside_anothers_drop() {
    /// Runs a backward pass when the graph lets go of it.
    struct OnDrop(Tensor<Diff, 1>, &'static Mutex<Vec<f32>>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            let x = self.0.clone();
            self.1.lock().unwrap().push(gradient(x.clone() * x.clone(), &x));
        }
    }
    static INNER: Mutex<Vec<f32>> = Mutex::new(vec![]);

    let x = leaf(5.0);
    let guard = OnDrop(leaf(4.0), &INNER);
    let identity = move |grad: Raw<Flex>| {
        let _ = &guard;
        Ok(grad)
    };
    let tracked = (x.clone() * 2.0).into_raw().into_primitive();
    let value = Diff::<NoCheckpointing>::inner(tracked.clone());
    let custom = Diff::<NoCheckpointing>::record(tracked, "identity", value, identity);
    let y = Tensor::<Diff, 1>::try_from_raw(Raw::new(custom)).unwrap() * 3.0;
    assert_eq!(gradient(y, &x), 6.0);
    assert_eq!(*INNER.lock().unwrap(), [8.0]);
}

#[test]
fn a_graph_serves_many_passes() {
    let x = leaf::<BalancedCheckpointing>(0.5);
    let y = (x.clone().exp() * x.clone()).tanh();
    let first = gradient(y.clone(), &x);
    assert_eq!(gradient(y.clone(), &x), first);
    assert_eq!(gradient(y, &x), first);
}

#[test]
fn complete_leaves_are_told_once_and_early() {
    let (early, late) = (leaf::<NoCheckpointing>(2.0), leaf(3.0));
    // `early` is an operand of the last op and of the first; `late` of the ones between.
    let y = early.clone() * 2.0;
    let y = (y * late.clone()) * late.clone();
    let unused = leaf::<NoCheckpointing>(1.0);
    let id = |x: &Tensor<Diff, 1>| Diff::<NoCheckpointing>::leaf(x.raw().primitive()).unwrap();

    let mut told = vec![];
    let mut on_leaf = |leaf, _: Option<&ParamId>, grad: &Raw<Flex>| {
        told.push((leaf, grad.clone().into_data()?.into_vec::<f32>()?[0]));
        Ok(())
    };
    let gradients =
        Diff::<NoCheckpointing>::backward_with(y.into_raw().into_primitive(), &mut on_leaf).unwrap();
    assert_eq!(told, [(id(&late), 24.0), (id(&early), 18.0)]);
    assert!(gradients.get(id(&unused)).is_none());
}

#[test]
fn an_error_of_the_notice_ends_the_pass() {
    let x = leaf::<NoCheckpointing>(2.0);
    let error = keyway::Error::argument("test", "no more");
    let mut fail = |_, _: Option<&ParamId>, _: &Raw<Flex>| Err(error.clone());
    let y = x.exp().into_raw().into_primitive();
    assert_eq!(
        Diff::<NoCheckpointing>::backward_with(y, &mut fail).err(),
        Some(error.clone())
    );
}
