//! Activations, losses and what training is made of.

use keyway::{DType, DynTensor, Error};

use crate::check::{devices, float, gradients, ints, normal, one, refused, slope, tensor, values};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[track_caller]
fn close(got: DynTensor, want: &[f64]) {
    let got = got.into_vec_as::<f64>().unwrap();
    let alike = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * b.abs();
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(alike),
        "{got:?} is not {want:?}"
    );
}

#[test]
fn smooth_where_they_are() {
    let x = || values(&[2, 4], &[-3.0, -1.2, -0.4, -0.1, 0.2, 0.6, 1.3, 7.0]);
    gradients([x()], |[x]| one(x.softplus_with_threshold(1.5, 1.0)));
    gradients([x()], |[x]| one(x.softplus_with_threshold(0.5, INF)));
    gradients([x()], |[x]| one(x.hardtanh(-0.5, 1.0)));
    gradients([x()], |[x]| one(x.relu6()));
    gradients([x()], |[x]| one(x.tanhshrink()));
    gradients([x()], |[x]| one(x.threshold(0.3, -2.0)));
    gradients([x()], |[x]| one(x.thresholded_relu(-0.3)));
    gradients([x()], |[x]| one(x.hard_shrink(0.5)));
    gradients([x()], |[x]| one(x.soft_shrink(0.5)));
    gradients([x()], |[x]| one(x.shrink(0.5, -0.25)));
}

#[test]
fn edges() {
    for device in devices() {
        let x = || tensor(&[-INF, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, INF, NAN], &[9], &device);
        close(
            x().hardtanh(-0.5, 0.5).unwrap(),
            &[-0.5, -0.5, -0.5, 0.0, 0.0, 0.5, 0.5, 0.5, NAN],
        );
        close(
            x().relu6().unwrap(),
            &[0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 6.0, NAN],
        );
        close(
            x().threshold(0.5, 9.0).unwrap(),
            &[9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 1.0, INF, NAN],
        );
        close(
            x().hard_shrink(0.5).unwrap(),
            &[-INF, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, INF, NAN],
        );
        close(
            x().soft_shrink(0.5).unwrap(),
            &[-INF, -0.5, 0.0, 0.0, 0.0, 0.0, 0.5, INF, NAN],
        );
        close(
            x().shrink(0.0, 0.25).unwrap(),
            &[-INF, -0.75, -0.25, 0.0, 0.0, 0.25, 0.75, INF, NAN],
        );
        close(
            x().soft_shrink(INF).unwrap(),
            &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NAN],
        );
        let large = tensor(&[-800.0, 800.0, INF, -INF], &[4], &device);
        close(
            large.clone().softplus_with_threshold(1.0, INF).unwrap(),
            &[0.0, 800.0, INF, 0.0],
        );
        close(
            slope(large.clone(), |x| x.softplus_with_threshold(2.0, 1e9)),
            &[0.0, 1.0, 1.0, 0.0],
        );
        close(slope(large.clone(), |x| x.soft_shrink(0.5)), &[1.0; 4]);
        close(
            slope(x(), |x| x.hard_shrink(0.5)),
            &[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        );

        let text = refused("hardtanh", x().hardtanh(1.0, -1.0));
        assert!(text.contains("1 and -1"), "{text}");
        refused("hardtanh", x().hardtanh(NAN, 1.0));
        refused("celu", x().celu(0.0));
        refused("threshold", x().threshold(NAN, 1.0));
        refused("softplus_with_threshold", x().softplus_with_threshold(1.0, NAN));
        refused("hard_shrink", x().hard_shrink(-0.5));
        refused("soft_shrink", x().soft_shrink(NAN));
        let text = refused("shrink", x().shrink(0.5, INF));
        assert!(text.contains("inf"), "{text}");
        let ints = || x().int().unwrap();
        refused("relu6", ints().relu6());
        refused("tanhshrink", ints().tanhshrink());
        refused("thresholded_relu", ints().thresholded_relu(1.0));
        refused("shrink", ints().shrink(0.5, 0.5));
        let empty = || DynTensor::zeros([0, 2], DType::F32, &device).unwrap();
        assert_eq!(empty().shrink(0.5, 0.5).unwrap().shape()[..], [0, 2]);
        assert_eq!(empty().relu6().unwrap().shape()[..], [0, 2]);
    }
}

/// 70000 is more than an `f16` holds.
#[test]
fn a_quiet_softmax_of_many_halves() {
    for device in devices() {
        let x = DynTensor::zeros([70_000], DType::F16, &device).unwrap();
        let y = x.quiet_softmax(0).unwrap();
        assert_eq!(y.dtype(), DType::F16);
        let first = y.into_vec_as::<f64>().unwrap()[0];
        assert!((first * 70_001.0 - 1.0).abs() < 0.01, "{first}");
    }
}

/// The error names the function that was called, not one of the ops it is made of.
#[test]
fn activations_are_of_floats() {
    for device in devices() {
        let x = || tensor(&[1, -2], &[1, 2], &device);
        for (name, result) in [
            ("leaky_relu", x().leaky_relu(0.5)),
            ("prelu", x().prelu(tensor(&[1], &[1], &device))),
            ("elu", x().elu(1.0)),
            ("celu", x().celu(1.0)),
            ("selu", x().selu()),
            ("softplus", x().softplus(1.0)),
            ("softplus_with_threshold", x().softplus_with_threshold(1.0, 20.0)),
            ("log_sigmoid", x().log_sigmoid()),
            ("mish", x().mish()),
            ("hard_sigmoid", x().hard_sigmoid(1.0, 0.0)),
            ("hard_swish", x().hard_swish()),
            ("softsign", x().softsign()),
            ("softmin", x().softmin(1)),
            ("quiet_softmax", x().quiet_softmax(1)),
            ("glu", x().glu(1)),
        ] {
            let text = refused(name, result);
            assert!(text.contains("expected a float type, got i32"), "{text}");
        }
    }
}

#[test]
fn factors_that_make_no_curve() {
    for device in devices() {
        for alpha in [0.0, -0.0, NAN, INF] {
            let text = refused("celu", tensor(&[0.0, -1.0], &[2], &device).celu(alpha));
            assert!(text.contains("it must be finite and not 0"), "{text}");
        }
    }
}

#[test]
fn cross_entropy_of_probabilities() {
    let probabilities = || float(&[3, 4], 0.0, 1.0);
    gradients([normal(&[3, 4]), probabilities()], |[x, t]| {
        one(x.cross_entropy_with_logits(t))
    });
    gradients([normal(&[4]), float(&[4], 0.1, 0.5)], |[x, t]| {
        one(x.cross_entropy_with_logits(t))
    });
    for device in devices() {
        // A class that can neither be nor is expected.
        let x = tensor(&[1.0, 1.0, -INF], &[1, 3], &device)
            .require_grad()
            .unwrap();
        let t = tensor(&[0.5, 0.5, 0.0], &[1, 3], &device).require_grad().unwrap();
        let loss = x.clone().cross_entropy_with_logits(t.clone()).unwrap();
        assert_eq!(loss.shape()[..], [1]);
        close(loss.clone(), &[2f64.ln()]);
        let grads = loss.backward().unwrap();
        close(x.grad(&grads).unwrap().unwrap(), &[0.0, 0.0, 0.0]);
        close(t.grad(&grads).unwrap().unwrap(), &[2f64.ln(), 2f64.ln(), 0.0]);
        let x = |shape: &[usize]| DynTensor::zeros(shape, DType::F32, &device).unwrap();
        refused(
            "cross_entropy_with_logits",
            x(&[2, 3]).cross_entropy_with_logits(x(&[2, 1])),
        );
        refused(
            "cross_entropy_with_logits",
            x(&[]).cross_entropy_with_logits(x(&[])),
        );
        refused(
            "cross_entropy_with_logits",
            x(&[2]).int().unwrap().cross_entropy_with_logits(x(&[2])),
        );
        refused(
            "cross_entropy_with_logits",
            x(&[2]).cross_entropy_with_logits(x(&[2]).cast(DType::F64).unwrap()),
        );
        close(
            x(&[2, 0]).cross_entropy_with_logits(x(&[2, 0])).unwrap(),
            &[0.0, 0.0],
        );
    }
}

#[test]
fn ctc_gradients() {
    // Repeated labels, lengths that are not the greatest, an empty target, a blank that is not 0.
    for blank in [0, 2] {
        let labels = [1, 1, 3, 3, 1, 0, 1, 0, 0].map(|label| if label == blank { 1 } else { label });
        gradients(
            [
                normal(&[5, 3, 4]),
                ints(&[3, 3], &labels),
                ints(&[3], &[5, 4, 2]),
                ints(&[3], &[3, 2, 0]),
            ],
            |[x, targets, steps, lengths]| one(x.ctc_loss(targets, steps, lengths, blank as usize)),
        );
    }
}

/// Every path of the input, one by one.
fn enumerated(log_probs: &[f64], classes: usize, target: &[usize], blank: usize) -> f64 {
    let time = log_probs.len() / classes;
    let mut total = 0.0;
    for path in 0..classes.pow(time as u32) {
        let at = |t: usize| path / classes.pow(t as u32) % classes;
        let spelt: Vec<usize> = (0..time)
            .filter(|&t| at(t) != blank && (t == 0 || at(t) != at(t - 1)))
            .map(at)
            .collect();
        if spelt == target {
            total += (0..time)
                .map(|t| log_probs[t * classes + at(t)])
                .sum::<f64>()
                .exp();
        }
    }
    -total.ln()
}

#[test]
fn ctc_sums_over_every_path() {
    let classes = 3;
    let noise = |i: usize| -((i * 37 % 11) as f64 + 1.0) / 4.0;
    for (time, target, blank) in [
        (1, vec![], 0),
        (1, vec![2], 0),
        (4, vec![1, 2], 0),
        (4, vec![1, 1], 0),
        (5, vec![0, 0, 2], 1),
        (4, vec![0, 1], 2),
        (3, vec![], 2),
        (2, vec![1, 1], 0),
        (1, vec![1, 2], 0),
        (0, vec![], 0),
        (0, vec![1], 0),
    ] {
        let log_probs: Vec<f64> = (0..time * classes).map(noise).collect();
        let want = enumerated(&log_probs, classes, &target, blank);
        for device in devices() {
            // Beyond the lengths stands what must not count.
            let mut padded = log_probs.clone();
            padded.extend([NAN, INF, -INF]);
            let mut labels: Vec<i64> = target.iter().map(|&label| label as i64).collect();
            labels.extend([-7, 99]);
            let x = tensor(&padded, &[time + 1, 1, classes], &device)
                .require_grad()
                .unwrap();
            let targets = tensor(&labels, &[1, labels.len()], &device);
            let length = |n: usize| tensor(&[n as u8], &[1], &device);
            let loss = x
                .clone()
                .ctc_loss(targets, length(time), length(target.len()), blank)
                .unwrap();
            close(loss.clone(), &[if want == 0.0 { 0.0 } else { want }]);
            let grads = loss.backward().unwrap();
            let grad = x.grad(&grads).unwrap().unwrap().into_vec::<f64>().unwrap();
            assert!(grad.iter().all(|g| g.is_finite()), "{target:?}: {grad:?}");
            // Each step spends one emission of a path; a target without a path gives no gradient.
            let spent = if want.is_finite() { -1.0 } else { 0.0 };
            for (t, step) in grad.chunks(classes).enumerate() {
                let want = if t < time { spent } else { 0.0 };
                assert!(
                    (step.iter().sum::<f64>() - want).abs() < 1e-12,
                    "{target:?} at {t}: {step:?}"
                );
            }
        }
    }
}

#[test]
fn ctc_edges_and_errors() {
    for device in devices() {
        // Impossible steps on the way: probability 0 of a label, and of everything.
        let x = tensor(&[-INF, 0.0, 0.0, -INF], &[2, 1, 2], &device);
        let (target, steps, length) = (
            tensor(&[1], &[1, 1], &device),
            tensor(&[2], &[1], &device),
            tensor(&[1], &[1], &device),
        );
        let loss = |x: DynTensor| x.ctc_loss(target.clone(), steps.clone(), length.clone(), 0);
        close(loss(x.clone()).unwrap(), &[0.0]);
        close(slope(x, loss), &[0.0, -1.0, -1.0, 0.0]);
        let x = tensor(&[-INF; 4], &[2, 1, 2], &device);
        close(loss(x.clone()).unwrap(), &[INF]);
        close(slope(x, loss), &[0.0; 4]);
        let half = tensor(&[keyway::f16::from_f32(-0.75); 4], &[2, 1, 2], &device);
        assert_eq!(loss(half).unwrap().dtype(), DType::F16);

        let x = |shape: &[usize]| DynTensor::zeros(shape, DType::F32, &device).unwrap();
        let ints = |shape: &[usize], n: i32| DynTensor::full(shape, n, DType::I32, &device).unwrap();
        let call = |n: usize, label, steps, length, blank| {
            x(&[3, n, 4]).ctc_loss(ints(&[n, 2], label), ints(&[n], steps), ints(&[n], length), blank)
        };
        assert!(call(2, 1, 3, 2, 0).is_ok());
        assert_eq!(call(0, 1, 3, 2, 0).unwrap().shape()[..], [0]);
        let text = refused("ctc_loss", call(2, 1, 4, 2, 0));
        assert!(
            text.contains("the length of an input is 4, not in 0..=3"),
            "{text}"
        );
        let text = refused("ctc_loss", call(2, 1, 3, -1, 0));
        assert!(text.contains("the length of a target is -1"), "{text}");
        let text = refused("ctc_loss", call(2, 4, 3, 2, 0));
        assert!(text.contains("index 4 is out of range"), "{text}");
        let text = refused("ctc_loss", call(2, 1, 3, 2, 4));
        assert!(text.contains("blank 4 is not one of 4 classes"), "{text}");
        let bad = x(&[3, 4]).ctc_loss(ints(&[2, 2], 1), ints(&[2], 1), ints(&[2], 1), 0);
        refused("ctc_loss", bad);
        let bad = x(&[3, 2, 4]).ctc_loss(ints(&[2, 2], 1), ints(&[2], 1), ints(&[3], 1), 0);
        refused("ctc_loss", bad);
        let bad = x(&[3, 2, 4]).ctc_loss(x(&[2, 2]), ints(&[2], 1), ints(&[2], 1), 0);
        refused("ctc_loss", bad);
        let bad = ints(&[3, 2, 4], 0).ctc_loss(ints(&[2, 2], 1), ints(&[2], 1), ints(&[2], 1), 0);
        refused("ctc_loss", bad);
        // The labels of a small type, beside a blank that it does not hold.
        let targets = ints(&[1, 1], 1).cast(DType::U8).unwrap();
        let x = DynTensor::zeros([1, 1, 301], DType::F32, &device).unwrap();
        close(
            x.ctc_loss(targets, ints(&[1], 1), ints(&[1], 1), 300).unwrap(),
            &[0.0],
        );
    }
}

/// A function of one tensor, by its name.
type Function = fn(DynTensor) -> Result<DynTensor, Error>;

#[test]
fn activations() {
    // No value is at a kink.
    let x = || values(&[2, 4], &[-3.2, -1.2, -0.4, -0.1, 0.2, 0.6, 1.3, 7.0]);
    let functions: &[(&str, Function)] = &[
        ("relu", |x| x.relu()),
        ("leaky_relu", |x| x.leaky_relu(0.1)),
        ("elu", |x| x.elu(1.3)),
        ("celu", |x| x.celu(0.7)),
        ("selu", |x| x.selu()),
        ("gelu", |x| x.gelu()),
        ("gelu_approximate", |x| x.gelu_approximate()),
        ("silu", |x| x.silu()),
        ("sigmoid", |x| x.sigmoid()),
        ("log_sigmoid", |x| x.log_sigmoid()),
        ("hard_sigmoid", |x| x.hard_sigmoid(0.2, 0.5)),
        ("hard_swish", |x| x.hard_swish()),
        ("mish", |x| x.mish()),
        ("softplus", |x| x.softplus(2.0)),
        ("softsign", |x| x.softsign()),
        ("softmax", |x| x.softmax(1)),
        ("log_softmax", |x| x.log_softmax(0)),
        ("softmin", |x| x.softmin(1)),
        ("quiet_softmax", |x| x.quiet_softmax(1)),
        ("glu", |x| x.glu(1)),
    ];
    for (name, f) in functions {
        println!("{name}");
        gradients([x()], |[x]| one(f(x)));
    }
    gradients([x(), values(&[4], &[0.1, 0.2, 0.3, 0.4])], |[x, alpha]| {
        one(x.permute([1, 0])?.prelu(alpha.slice_dim(0, 0..2)?))
    });
}

#[test]
fn losses() {
    let (x, t) = (|| normal(&[3, 4]), || float(&[3, 4], 0.1, 0.9));
    gradients([x(), t()], |[x, t]| one(x.mse(t)));
    gradients([x(), t()], |[x, t]| one(x.l1(t)));
    gradients([x(), t()], |[x, t]| one(x.huber(t, 0.6)));
    gradients([x(), t()], |[x, t]| one(x.smooth_l1(t, 0.6)));
    gradients([x(), t()], |[x, t]| one(x.binary_cross_entropy_with_logits(t)));
    gradients([x(), t()], |[x, t]| one(x.kl_div(t)));
    gradients([x(), t()], |[x, t]| one(x.cross_entropy_with_logits(t)));
    let classes = || ints(&[3], &[2, 0, 3]);
    gradients([x(), classes()], |[x, t]| one(x.cross_entropy(t)));
    gradients([x(), classes()], |[x, t]| one(x.nll(t)));
}

#[test]
fn layers() {
    gradients(
        [normal(&[2, 3, 4]), normal(&[4, 5]), normal(&[5])],
        |[x, w, b]| one(x.linear(w, Some(b))),
    );
    gradients([normal(&[5, 3]), ints(&[2, 2], &[4, 0, 4, 1])], |[w, i]| {
        one(w.embedding(i))
    });
    gradients([normal(&[2, 3, 4]), normal(&[4]), normal(&[4])], |[x, w, b]| {
        one(x.layer_norm(Some(w), Some(b), 1e-3))
    });
    let options = keyway::module::AttentionModuleOptions::default();
    gradients(
        [normal(&[2, 3, 4]), normal(&[2, 5, 4]), normal(&[2, 5, 3])],
        |[q, k, v]| one(q.attention(k, v, None, None, options)),
    );
}
