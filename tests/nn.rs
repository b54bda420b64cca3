//! Modules, layers, and moving models.

use keyway::nn::*;
use keyway::prelude::*;
use keyway::{DType, FlexDevice, Shape, f16};

type Train = Autodiff<Flex>;

#[derive(Clone, Debug)]
struct Net<B: Backend> {
    conv: Conv2d<B>,
    norm: BatchNorm<B>,
    layers: Vec<Linear<B>>,
    wide: Linear<B, f64>,
    skip: Option<Param<B, 1>>,
    counts: Buffer<B, 2, i64>,
    pair: (Dropout, Embedding<B>),
    name: String,
}
module!(Net { conv, norm, layers, wide, skip, counts, pair } const { name });

fn net<B: Backend + Supports<f64> + Supports<i64>>(seed: u64, device: &B::Device) -> Net<B> {
    device.seed(seed);
    Net {
        conv: Conv2dConfig::new([1, 2], [3, 3]).with_bias(false).init(device),
        norm: BatchNormConfig::new(2).init(device),
        layers: [(2, 3), (3, 1)]
            .map(|(i, o)| LinearConfig::new(i, o).init(device))
            .into(),
        wide: LinearConfig::new(2, 2).init(device),
        skip: None,
        counts: Buffer::new(Tensor::from_array([[1, 2]], device)),
        pair: (
            DropoutConfig::new(0.1).init(),
            EmbeddingConfig::new(4, 2).init(device),
        ),
        name: "net".into(),
    }
}

const PATHS: &[(&str, Kind, DType)] = &[
    ("conv.weight", Kind::Param, DType::F32),
    ("norm.weight", Kind::Param, DType::F32),
    ("norm.bias", Kind::Param, DType::F32),
    ("norm.running_mean", Kind::Buffer, DType::F32),
    ("norm.running_var", Kind::Buffer, DType::F32),
    ("layers.0.weight", Kind::Param, DType::F32),
    ("layers.0.bias", Kind::Param, DType::F32),
    ("layers.1.weight", Kind::Param, DType::F32),
    ("layers.1.bias", Kind::Param, DType::F32),
    ("wide.weight", Kind::Param, DType::F64),
    ("wide.bias", Kind::Param, DType::F64),
    ("counts", Kind::Buffer, DType::I64),
    ("pair.1.weight", Kind::Param, DType::F32),
];

#[test]
fn a_visit_and_a_map_come_by_every_tensor_of_any_element_type() {
    let mut net = net::<Train>(0, &FlexDevice::new(0));
    let mut seen = Vec::new();
    net.for_each(|slot, x| {
        seen.push((slot.path.to_owned(), slot.kind, x.dtype()));
        Ok(())
    })
    .unwrap();
    let expected: Vec<_> = PATHS
        .iter()
        .map(|&(path, kind, dtype)| (path.to_owned(), kind, dtype))
        .collect();
    assert_eq!(seen, expected);
    let mut visited = Vec::new();
    net.visit(&mut Visitor::new(&mut |slot, x| {
        visited.push((slot.path.to_owned(), slot.kind, x.dtype()));
        Ok(None)
    }))
    .unwrap();
    assert_eq!(visited, expected);
    let values = [18, 2, 2, 6, 3, 3, 1, 4, 2, 8];
    assert_eq!(net.num_params(), values.iter().sum::<usize>());
}

#[test]
fn a_visitor_may_not_change_a_shape() {
    let device = FlexDevice::new(0);
    let mut linear: Linear<Flex> = LinearConfig::new(2, 2).init(&device);
    let before = linear.record().unwrap();
    let error = linear.visit(&mut Visitor::new(&mut |_, x| x.clone().reshape([4]).map(Some)));
    let text = error.unwrap_err().to_string();
    assert_eq!(
        text,
        "visit: `weight` is [2, 2] of f32, its new value is [4] of f32"
    );
    assert_eq!(linear.record().unwrap(), before);
}

#[test]
fn valid_is_the_same_model_on_the_plain_backend() {
    let net = net::<Train>(1, &FlexDevice::new(0));
    let plain: Net<Flex> = net.valid();
    assert_eq!(plain.record().unwrap(), net.record().unwrap());
    assert_eq!(plain.name, "net");
}

#[test]
fn another_backend_gets_the_values_as_leaves() {
    let net = net::<Train>(1, &FlexDevice::new(0));
    let [first, _] = <[_; 2]>::try_from(Mesh::<Flex>::open(2).unwrap()).unwrap();
    let moved: Net<Autodiff<Mesh<Flex>>> = net.to_backend(&first).unwrap();
    assert_eq!(moved.record().unwrap(), net.record().unwrap());
    let loss = moved.layers[0].forward(Tensor::ones([1, 2], &first)).sum();
    assert!(
        moved.layers[0].weight.grad(&loss.backward()).is_some(),
        "a parameter is a leaf again"
    );
}

#[test]
fn moving_a_model_moves_its_buffers_and_keeps_its_leaves() {
    let mut members = Mesh::<Flex>::open(2).unwrap();
    let (to, from) = (members.pop().unwrap(), members.pop().unwrap());
    let model: BatchNorm<Autodiff<Mesh<Flex>>> = BatchNormConfig::new(2).init(&from);
    let moved = model.to_device(&to).unwrap();
    let mut devices = Vec::new();
    moved
        .for_each(|_, x| {
            devices.push(x.device());
            Ok(())
        })
        .unwrap();
    assert_eq!(devices, [to.clone(), to.clone(), to.clone(), to.clone()]);
    let x = Tensor::random([2, 2, 3, 3], Distribution::Default, &to);
    let gradients = moved.forward(x).sum().backward();
    let grad = moved
        .bias
        .grad(&gradients)
        .expect("the bias is a leaf where it is now");
    assert_eq!(grad.into_vec().unwrap(), [18.0, 18.0]);
}

#[test]
fn a_parameter_forgets_where_its_value_came_from() {
    let device = FlexDevice::new(0);
    let x = Tensor::<Train, 1>::from_array([2.0], &device).require_grad();
    let param = Param::new(x.clone() * 3.0);
    let gradients = (param.val() * x.clone()).sum().backward();
    assert_eq!(param.grad(&gradients).unwrap().into_vec().unwrap(), [2.0]);
    assert_eq!(x.grad(&gradients).unwrap().into_vec().unwrap(), [6.0]);
    let doubled = param.map(|x| x * 2.0);
    let gradients = (doubled.val() * x).sum().backward();
    assert_eq!(doubled.grad(&gradients).unwrap().into_vec().unwrap(), [2.0]);
}

#[test]
fn every_update_of_a_buffer_counts() {
    let buffer = Buffer::new(Tensor::<Flex, 1, i32>::from_array([0], &FlexDevice::new(0)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| buffer.update(|count| count + 1)));
        }
    });
    assert_eq!(buffer.val().into_vec().unwrap(), [400]);
}

/// No lock is held while ops run: a thread that waits inside one may be given work on the same buffer.
#[test]
fn a_buffer_can_be_read_while_it_is_updated() {
    let buffer = Buffer::new(Tensor::<Flex, 1>::ones([1], &FlexDevice::new(0)));
    buffer.update(|x| x + buffer.val());
    assert_eq!(buffer.val().into_vec().unwrap(), [2.0]);
}

#[test]
fn a_clone_of_a_buffer_has_a_value_of_its_own() {
    let a = Buffer::new(Tensor::<Flex, 1>::zeros([1], &FlexDevice::new(0)));
    let b = a.clone();
    a.update(|x| x + 1.0);
    assert_eq!(
        (a.val().into_vec().unwrap(), b.val().into_vec().unwrap()),
        (vec![1.0], vec![0.0])
    );
}

#[test]
fn a_buffer_keeps_no_graph() {
    let device = FlexDevice::new(0);
    let buffer = Buffer::new(Tensor::<Train, 1>::zeros([1], &device));
    let x = Tensor::from_array([1.0], &device).require_grad();
    buffer.update(|_| &x * 2.0);
    assert!(buffer.val().try_backward().is_err());
}

#[test]
fn linear_takes_every_rank() {
    let device = FlexDevice::new(0);
    let linear: Linear<Flex> = LinearConfig::new(3, 1)
        .with_initializer(Initializer::Constant(2.0))
        .init(&device);
    let y = linear.forward(Tensor::<Flex, 1>::ones([3], &device));
    assert_eq!((y.dims(), y.into_vec().unwrap()), ([1], vec![8.0]));
    assert_eq!(
        linear
            .forward(Tensor::<Flex, 4>::ones([2, 5, 4, 3], &device))
            .dims(),
        [2, 5, 4, 1]
    );
    let no_bias: Linear<Flex> = LinearConfig::new(3, 1).with_bias(false).init(&device);
    assert_eq!((no_bias.num_params(), no_bias.bias.is_none()), (3, true));
}

#[test]
fn initial_values_have_the_spread_of_pytorch() {
    let device = FlexDevice::new(3);
    let bound_of = |x: Vec<f32>| x.into_iter().fold(0f32, |max, x| max.max(x.abs()));
    let near = |bound: f32, expected: f32| {
        assert!(
            bound <= expected && bound > 0.98 * expected,
            "{bound}, {expected}"
        )
    };
    let linear: Linear<Flex> = LinearConfig::new(100, 2000).init(&device);
    near(bound_of(linear.weight.val().into_vec().unwrap()), 0.1);
    near(bound_of(linear.bias.unwrap().val().into_vec().unwrap()), 0.1);
    let conv: Conv2d<Flex> = Conv2dConfig::new([8, 400], [5, 5]).with_groups(2).init(&device);
    assert_eq!(conv.weight.val().dims(), [400, 4, 5, 5]);
    near(bound_of(conv.weight.val().into_vec().unwrap()), 0.1);
    let spread = |initializer: Initializer| {
        let x: Param<Flex, 1, f64> = initializer.init([100_000], [50, 150], &device);
        let x = x.val().into_vec().unwrap();
        let mean = x.iter().sum::<f64>() / 1e5;
        (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5).sqrt()
    };
    for (initializer, std) in [
        (Initializer::KaimingUniform { gain: 2.0 }, 2.0 / 50f64.sqrt()),
        (Initializer::KaimingNormal { gain: 2.0 }, 2.0 / 50f64.sqrt()),
        (Initializer::XavierUniform { gain: 1.0 }, 0.1),
        (Initializer::XavierNormal { gain: 1.0 }, 0.1),
        (Initializer::Uniform { min: -1.0, max: 1.0 }, 1.0 / 3f64.sqrt()),
        (Initializer::Normal { mean: 5.0, std: 0.5 }, 0.5),
        (Initializer::Constant(1.5), 0.0),
    ] {
        assert!(
            (spread(initializer) - std).abs() < 0.02 * std.max(1e-12),
            "{initializer:?}"
        );
    }
}

#[test]
fn conv_pads_as_told() {
    let device = FlexDevice::new(0);
    let conv = |padding| {
        let config = Conv2dConfig::new([1, 1], [2, 3])
            .with_padding(padding)
            .with_bias(false);
        let conv: Conv2d<Flex> = config.with_initializer(Initializer::Constant(1.0)).init(&device);
        conv.forward(Tensor::ones([1, 1, 3, 3], &device))
    };
    assert_eq!(conv(PaddingConfig2d::Valid).dims(), [1, 1, 2, 1]);
    assert_eq!(conv(PaddingConfig2d::Explicit(1, 2)).dims(), [1, 1, 4, 5]);
    // An odd zero goes to the end: only the last row lacks a neighbour.
    let same = conv(PaddingConfig2d::Same).into_vec().unwrap();
    assert_eq!(same, [4.0, 6.0, 4.0, 4.0, 6.0, 4.0, 2.0, 3.0, 2.0]);
    let config = Conv2dConfig::new([2, 4], [3, 3])
        .with_stride([2, 1])
        .with_dilation([1, 2])
        .with_groups(2);
    let conv: Conv2d<Flex> = config.init(&device);
    assert_eq!(
        conv.forward(Tensor::ones([1, 2, 7, 7], &device)).dims(),
        [1, 4, 3, 3]
    );
}

#[test]
#[should_panic(expected = "3 groups do not divide 4 channels in and 6 out")]
fn conv_refuses_groups_that_do_not_divide() {
    let _: Conv2d<Flex> = Conv2dConfig::new([4, 6], [1, 1])
        .with_groups(3)
        .init(&FlexDevice::new(0));
}

#[test]
fn pools_take_their_options() {
    let device = FlexDevice::new(0);
    let x = Tensor::<Flex, 4>::from_array([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]], &device);
    let max = MaxPool2dConfig::new([2, 2]).with_strides([1, 1]).init();
    assert_eq!(max.forward(x.clone()).into_vec().unwrap(), [5.0, 6.0, 8.0, 9.0]);
    let max = MaxPool2dConfig::new([2, 2])
        .with_strides([2, 2])
        .with_padding(PaddingConfig2d::Explicit(1, 1))
        .init();
    assert_eq!(
        max.forward(-x.clone()).into_vec().unwrap(),
        [-1.0, -2.0, -4.0, -5.0]
    );
    let dilated = MaxPool2dConfig::new([2, 2]).with_dilation([2, 2]).init();
    assert_eq!(dilated.forward(x.clone()).into_vec().unwrap(), [9.0]);
    let avg = |include| {
        let config = AvgPool2dConfig::new([2, 2]).with_padding(PaddingConfig2d::Explicit(1, 1));
        config
            .with_count_include_pad(include)
            .init()
            .forward(x.clone())
            .into_vec()
            .unwrap()
    };
    assert_eq!(avg(true), [0.25, 1.25, 2.75, 7.0]);
    assert_eq!(avg(false), [1.0, 2.5, 5.5, 7.0]);
}

#[test]
fn layer_norm_is_over_the_last_axis() {
    let device = FlexDevice::new(0);
    let norm: LayerNorm<Train, f64> = LayerNormConfig::new(4)
        .with_epsilon(0.0)
        .with_bias(false)
        .init(&device);
    let y = norm.forward(Tensor::<Train, 2, f64>::from_array(
        [[1.0, 2.0, 3.0, 4.0]],
        &device,
    ));
    // Deviations from the mean 2.5 over the root of the biased variance 1.25.
    let expected = [-1.5, -0.5, 0.5, 1.5].map(|x: f64| x / 1.25f64.sqrt());
    for (y, e) in y.clone().into_vec().unwrap().into_iter().zip(expected) {
        assert!((y - e).abs() < 1e-12);
    }
    assert!(norm.weight.grad(&y.sum().backward()).is_some());
}

#[test]
fn batch_norm_measures_where_it_trains_and_only_there() {
    let device = FlexDevice::new(0);
    let norm: BatchNorm<Train, f64> = BatchNormConfig::new(2)
        .with_epsilon(0.0)
        .with_momentum(0.5)
        .init(&device);
    let x = Tensor::from_array(
        [[[[1.0, 2.0]], [[10.0, 10.0]]], [[[3.0, 6.0]], [[20.0, 20.0]]]],
        &device,
    );
    let y = norm.forward(x.clone()).into_vec().unwrap();
    // Channel 0 holds 1 2 3 6: mean 3, biased variance 3.5, unbiased 14/3. Channel 1: mean 15, 25, 100/3.
    let expected = [-2.0, -1.0, 0.0, 3.0].map(|x: f64| x / 3.5f64.sqrt());
    let expected = [
        expected[0],
        expected[1],
        -1.0,
        -1.0,
        expected[2],
        expected[3],
        1.0,
        1.0,
    ];
    for (y, e) in y.iter().zip(expected) {
        assert!((y - e).abs() < 1e-12, "{y} {e}");
    }
    let close = |got: Vec<f64>, expected: [f64; 2]| {
        got.iter()
            .zip(expected)
            .for_each(|(g, e)| assert!((g - e).abs() < 1e-12, "{g} {e}"));
    };
    close(norm.running_mean.val().into_vec().unwrap(), [1.5, 7.5]);
    let running_var = [0.5 + 7.0 / 3.0, 0.5 + 50.0 / 3.0];
    close(norm.running_var.val().into_vec().unwrap(), running_var);

    let plain = norm.valid();
    let y = plain.forward(x.inner()).into_vec().unwrap();
    assert!((y[0] - (1.0 - 1.5) / running_var[0].sqrt()).abs() < 1e-12);
    close(plain.running_mean.val().into_vec().unwrap(), [1.5, 7.5]);
}

#[test]
fn batch_norm_has_gradients_through_the_statistics() {
    let device = FlexDevice::new(0);
    let norm: BatchNorm<Train, f64> = BatchNormConfig::new(1).init(&device);
    let x = Tensor::<Train, 4, f64>::from_array([[[[1.0, 2.0, 4.0]]]], &device).require_grad();
    // The outputs of a channel add up to 0 whatever the input is.
    let gradients = norm.forward(x.clone()).sum().backward();
    for g in x.grad(&gradients).unwrap().into_vec().unwrap() {
        assert!(g.abs() < 1e-12, "{g}");
    }
    assert_eq!(norm.bias.grad(&gradients).unwrap().into_vec().unwrap(), [3.0]);
}

#[test]
#[should_panic(expected = "more than one value for each channel")]
fn batch_norm_refuses_to_train_on_one_value() {
    let device = FlexDevice::new(0);
    let norm: BatchNorm<Train> = BatchNormConfig::new(1).init(&device);
    norm.forward(Tensor::ones([1, 1, 1, 1], &device));
}

#[test]
fn dropout_keeps_the_mean_and_follows_the_backend() {
    let device = FlexDevice::new(0);
    let x = Tensor::<Train, 1>::ones([20_000], &device);
    let dropout = DropoutConfig::new(0.25).init();
    let kept = dropout.forward(x.clone()).into_vec().unwrap();
    assert!(kept.iter().all(|&x| x == 0.0 || x == 1.0 / 0.75));
    let mean = kept.iter().sum::<f32>() / 20_000.0;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert_ne!(
        dropout.forward(x.clone()).into_vec().unwrap(),
        kept,
        "each call drops others"
    );
    assert_eq!(
        dropout.forward(x.clone().inner()).into_vec().unwrap(),
        [1.0; 20_000]
    );
    let all = DropoutConfig::new(1.0)
        .init()
        .forward(x.clone())
        .into_vec()
        .unwrap();
    assert_eq!(all, [0.0; 20_000]);
    let none = DropoutConfig::new(0.0).init().forward(x).into_vec().unwrap();
    assert_eq!(none, [1.0; 20_000]);
}

#[test]
fn embedding_takes_any_integer_and_sums_gradients_of_repeats() {
    let device = FlexDevice::new(0);
    let embedding: Embedding<Train> = EmbeddingConfig::new(3, 2).init(&device);
    let words = Tensor::<Train, 2, u8>::from_array([[2, 0], [2, 2]], &device);
    let vectors: Tensor<Train, 3> = embedding.forward(words);
    assert_eq!(vectors.dims(), [2, 2, 2]);
    let grad = embedding.weight.grad(&vectors.sum().backward()).unwrap();
    assert_eq!(grad.into_vec().unwrap(), [1.0, 1.0, 0.0, 0.0, 3.0, 3.0]);
}

#[test]
fn layers_work_on_half_types() {
    let device = FlexDevice::new(0);
    let one = f16::from_f32(1.0);
    let linear: Linear<Train, f16> = LinearConfig::new(4, 2).init(&device);
    let norm: BatchNorm<Train, f16> = BatchNormConfig::new(1).init(&device);
    let y = linear.forward(Tensor::<Train, 2, f16>::full([3, 4], one, &device));
    assert_eq!(y.shape(), Shape::from([3, 2]));
    let x = Tensor::random([4, 1, 8, 8], Distribution::Normal(300.0, 100.0), &device);
    let y = norm.forward(x).cast::<f32>().into_vec().unwrap();
    let var = y.iter().map(|y| y * y).sum::<f32>() / 256.0;
    assert!((var - 1.0).abs() < 0.05, "squares of 300 overflow f16: {var}");
}

/// Issue: `model.distribute()?` starts the members from rank 0's values and buffers.
#[test]
fn distribute_makes_members_with_different_seeds_alike() {
    let work = |device: keyway::MeshDevice<Flex>| {
        let own = net::<Autodiff<Mesh<Flex>>>(device.rank() as u64, &device);
        own.norm.running_mean.update(|x| x + device.rank() as f32);
        let before = own.record().unwrap();
        let model = own.distribute().unwrap();
        let names: Vec<_> = device
            .member()
            .params()
            .into_iter()
            .map(|entry| entry.param.unwrap().to_string())
            .collect();
        (before, model.record().unwrap(), names)
    };
    let results = on_members(Mesh::open(3).unwrap(), work);
    assert_ne!(results[0].0, results[1].0);
    for (_, after, names) in &results {
        assert_eq!(after, &results[0].0, "every member has rank 0's values");
        let mut params: Vec<_> = PATHS.iter().filter(|p| p.1 == Kind::Param).map(|p| p.0).collect();
        params.sort();
        assert_eq!(names, &params);
    }
}

#[test]
fn distribute_refuses_different_models_on_every_member() {
    let work = |device: keyway::MeshDevice<Flex>| {
        let outputs = 2 + device.rank();
        let model: Linear<Autodiff<Mesh<Flex>>> = LinearConfig::new(2, outputs).init(&device);
        model.distribute().unwrap_err().to_string()
    };
    for text in on_members(Mesh::open(2).unwrap(), work) {
        assert!(text.starts_with("distribute of `weight`: rank "), "{text}");
    }
}

fn on_members<R: Send>(
    devices: Vec<keyway::MeshDevice<Flex>>,
    work: impl Fn(keyway::MeshDevice<Flex>) -> R + Sync,
) -> Vec<R> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = devices
            .into_iter()
            .map(|device| scope.spawn(move || work(device)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
