//! Optimizers, against their formulas and against values of PyTorch.

use keyway::nn::{Linear, LinearConfig, Module, Param};
use keyway::optim::{AdamWConfig, Optimizer, SgdConfig};
use keyway::prelude::*;
use keyway::{FlexDevice, bf16, f16};

type Train<S = NoCheckpointing> = Autodiff<Flex, S>;

/// Steps with gradients `x²/2 + 1`, whose value depends on the parameter, and gives the parameter after each.
fn run(mut optimizer: impl Optimizer<Flex>, steps: usize) -> Vec<f64> {
    let mut param = Param::new(Tensor::<Train, 1, f64>::from_array([1.0], &FlexDevice::new(0)));
    let mut values = Vec::new();
    for _ in 0..steps {
        let x = param.val();
        let loss = x.clone() * x.clone() * x.clone() / 6.0 + x;
        optimizer.step(0.1, &mut param, &loss.sum().backward()).unwrap();
        values.push(param.val().into_scalar().unwrap());
    }
    values
}

fn slope(x: f64) -> f64 {
    x * x / 2.0 + 1.0
}

fn close(got: Vec<f64>, expected: Vec<f64>) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(&expected) {
        assert!((g - e).abs() < 1e-12, "{got:?} is not {expected:?}");
    }
}

/// PyTorch's rule for SGD, written out.
fn sgd(momentum: f64, dampening: f64, nesterov: bool, decay: f64, steps: usize) -> Vec<f64> {
    let (mut x, mut velocity) = (1.0, None);
    let step = |_| {
        let g = slope(x) + decay * x;
        let v = match velocity {
            Some(v) => momentum * v + (1.0 - dampening) * g,
            None => g,
        };
        velocity = Some(v);
        x -= 0.1 * if nesterov { g + momentum * v } else { v };
        x
    };
    (0..steps).map(step).collect()
}

#[test]
fn sgd_follows_its_formula() {
    close(run(SgdConfig::new().init(), 4), sgd(0.0, 0.0, false, 0.0, 4));
    close(
        run(SgdConfig::new().with_weight_decay(0.1).init(), 4),
        sgd(0.0, 0.0, false, 0.1, 4),
    );
    let heavy = SgdConfig::new().with_momentum(0.9).with_weight_decay(0.1);
    close(run(heavy.init(), 6), sgd(0.9, 0.0, false, 0.1, 6));
    close(
        run(heavy.with_dampening(0.5).init(), 6),
        sgd(0.9, 0.5, false, 0.1, 6),
    );
    close(
        run(heavy.with_nesterov(true).init(), 6),
        sgd(0.9, 0.0, true, 0.1, 6),
    );
}

#[test]
fn adamw_follows_its_formula() {
    let (b1, b2, eps, decay) = (0.8, 0.95, 1e-3, 0.2);
    let config = AdamWConfig::new()
        .with_beta_1(b1)
        .with_beta_2(b2)
        .with_epsilon(eps)
        .with_weight_decay(decay);
    let (mut x, mut m, mut v) = (1.0, 0.0, 0.0);
    let step = |t| {
        let g = slope(x);
        x -= 0.1 * decay * x;
        m = b1 * m + (1.0 - b1) * g;
        v = b2 * v + (1.0 - b2) * g * g;
        let (m, v) = (m / (1.0 - f64::powi(b1, t)), v / (1.0 - f64::powi(b2, t)));
        x -= 0.1 * m / (v.sqrt() + eps);
        x
    };
    close(run(config.init(), 8), (1..=8).map(step).collect());
}

/// The values of `torch.optim` are in `tests/reference/optim.py`'s output.
#[test]
fn both_agree_with_pytorch() {
    let reference = include_str!("reference/optim.csv");
    for line in reference.lines() {
        let (name, values) = line.split_once(',').unwrap();
        let expected = values.split(',').map(|x| x.parse().unwrap()).collect();
        let got = match name {
            "sgd" => run(SgdConfig::new().init(), 5),
            "momentum" => run(
                SgdConfig::new().with_momentum(0.9).with_weight_decay(0.01).init(),
                5,
            ),
            "nesterov" => run(SgdConfig::new().with_momentum(0.9).with_nesterov(true).init(), 5),
            "adamw" => run(AdamWConfig::new().init(), 5),
            _ => panic!("no optimizer is called {name}"),
        };
        close(got, expected);
    }
}

fn lowers_the_loss<E: FloatElement>(optimizer: &mut impl Optimizer<Flex>, lr: f64)
where
    Flex: Supports<E>,
{
    let device = FlexDevice::new(1);
    let mut model: Linear<Train, E> = LinearConfig::new(4, 1).init(&device);
    let x = Tensor::<Train, 2, E>::random([16, 4], Distribution::Default, &device);
    let y = x.clone().sum_dim(1);
    let mut losses = Vec::new();
    for _ in 0..60 {
        let error = model.forward(x.clone()) - y.clone();
        let loss = (error.clone() * error).mean();
        losses.push(loss.clone().cast::<f32>().into_scalar().unwrap());
        optimizer.step(lr, &mut model, &loss.backward()).unwrap();
    }
    assert!(
        losses[59] < 0.2 * losses[0],
        "{}: {} to {}",
        E::DTYPE,
        losses[0],
        losses[59]
    );
}

#[test]
fn every_float_type_trains() {
    lowers_the_loss::<f64>(&mut SgdConfig::new().with_momentum(0.9).init(), 0.05);
    lowers_the_loss::<f32>(&mut SgdConfig::new().with_momentum(0.9).init(), 0.05);
    lowers_the_loss::<f16>(&mut SgdConfig::new().with_momentum(0.9).init(), 0.05);
    lowers_the_loss::<bf16>(&mut SgdConfig::new().with_momentum(0.9).init(), 0.05);
    lowers_the_loss::<f64>(&mut AdamWConfig::new().init(), 0.05);
    lowers_the_loss::<f32>(&mut AdamWConfig::new().init(), 0.05);
    lowers_the_loss::<f16>(&mut AdamWConfig::new().init(), 0.05);
    lowers_the_loss::<bf16>(&mut AdamWConfig::new().init(), 0.05);
}

#[test]
fn parameters_without_a_gradient_stay() {
    let device = FlexDevice::new(0);
    let mut model: (Linear<Train>, Linear<Train>) = (
        LinearConfig::new(1, 1).init(&device),
        LinearConfig::new(1, 1).init(&device),
    );
    let before = model.record().unwrap();
    let gradients = model.1.forward(Tensor::<Train, 1>::ones([1], &device)).backward();
    SgdConfig::new()
        .with_weight_decay(0.5)
        .init()
        .step(0.1, &mut model, &gradients)
        .unwrap();
    let after = model.record().unwrap();
    let changed: Vec<_> = after
        .iter()
        .filter(|(path, data)| before[*path] != **data)
        .map(|(path, _)| path)
        .collect();
    assert_eq!(changed, ["1.bias", "1.weight"]);
}

#[test]
fn gradients_of_another_model_are_refused() {
    let device = FlexDevice::new(0);
    let other: Linear<Train> = LinearConfig::new(1, 1).init(&device);
    let mut model: Linear<Train> = LinearConfig::new(1, 1).init(&device);
    let gradients = other.forward(Tensor::<Train, 1>::ones([1], &device)).backward();
    let error = SgdConfig::new()
        .init()
        .step(0.1, &mut model, &gradients)
        .unwrap_err();
    assert!(
        error.to_string().contains("none of the model's parameters"),
        "{error}"
    );
}

#[test]
fn a_stepped_parameter_is_the_same_leaf_and_keeps_no_graph() {
    let device = FlexDevice::new(0);
    let mut param = Param::new(Tensor::<Train, 1>::from_array([1.0], &device));
    let kept = param.clone();
    let gradients = (param.val() * 2.0).sum().backward();
    let mut sgd = SgdConfig::new().init();
    sgd.step(0.25, &mut param, &gradients).unwrap();
    sgd.step(0.25, &mut param, &gradients).unwrap();
    assert_eq!(param.val().into_vec().unwrap(), [0.0]);
    assert_eq!(kept.val().into_vec().unwrap(), [1.0], "a clone keeps its value");
    let gradients = (param.val() * 3.0).sum().backward();
    assert_eq!(param.grad(&gradients).unwrap().into_vec().unwrap(), [3.0]);
}

#[test]
fn accumulated_micro_batches_step_as_one() {
    let step = |parts: &[&[f32]]| {
        let device = FlexDevice::new(0);
        let mut param = Param::new(Tensor::<Train<BalancedCheckpointing>, 1>::from_array(
            [2.0],
            &device,
        ));
        let loss = |xs: &[f32]| {
            let x = Tensor::from_vec(xs.to_vec(), [xs.len()], &device);
            (param.val() * x).exp().sum().backward()
        };
        let gradients = parts
            .iter()
            .map(|part| loss(part))
            .reduce(|a, b| a.accumulate(b).unwrap())
            .unwrap();
        SgdConfig::new().init().step(0.1, &mut param, &gradients).unwrap();
        param.val().into_scalar().unwrap()
    };
    assert!((step(&[&[0.5, 0.25, 1.0]]) - step(&[&[0.5], &[0.25, 1.0]])).abs() < 1e-6);
}

/// Members that step with their own gradients would drift apart, though `sync` took place.
#[test]
fn a_group_steps_only_what_it_trains_together() {
    let members = Mesh::<Flex>::open(2).unwrap().into_iter().map(|device| {
        std::thread::spawn(move || {
            let x = Tensor::<Autodiff<Mesh<Flex>>, 2>::full([1, 1], 1.0 + device.rank() as f32, &device);
            let mut own: Linear<Autodiff<Mesh<Flex>>> = LinearConfig::new(1, 1).init(&device);
            let step = |model: &mut Linear<_>| {
                let gradients = model.forward(x.clone()).sum().backward().sync().unwrap();
                SgdConfig::new().init().step(0.1, model, &gradients)
            };
            let before = own.record().unwrap();
            let refused = step(&mut own).unwrap_err().to_string();
            assert_eq!(own.record().unwrap(), before, "the model is unchanged");
            // So is one that was distributed elsewhere: its parameters are leaves of their own here.
            let mut shared = own.distribute().unwrap();
            step(&mut shared).unwrap();
            let mut copy: Linear<Autodiff<Mesh<Flex>>> = shared.to_backend(&device).unwrap();
            assert!(step(&mut copy).is_err());
            (refused, shared.record().unwrap())
        })
    });
    let members: Vec<_> = members.collect();
    let [(refused, a), (_, b)] = &members
        .into_iter()
        .map(|member| member.join().unwrap())
        .collect::<Vec<_>>()[..]
    else {
        panic!("two members")
    };
    assert_eq!(a, b);
    assert_eq!(
        refused,
        "step: the group does not train `weight` together, and its members would drift apart; `model.distribute()?` first"
    );
}
