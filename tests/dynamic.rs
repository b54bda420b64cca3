//! Run-time dispatch: what does not compile on typed tensors is an `Err` here, with its text.

#[path = "support/example.rs"]
mod example;
#[path = "support/few.rs"]
mod few;

use std::thread;
use std::time::Duration;

use example::example;
use few::Few;
use keyway::dynamic::{Available, CollectiveVisitor, ConversionError};
use keyway::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
use keyway::optim::SgdConfig;
use keyway::prelude::*;
use keyway::{DType, Dyn, DynDevice, DynTensor, Flex, GroupOptions, dispatch, dispatch_collective};

fn flex() -> DynDevice {
    DynDevice::default()
}

fn floats<const N: usize>(values: [f32; N], device: &DynDevice) -> DynTensor {
    DynTensor::from_data(TensorData::new(values.to_vec(), [N]).unwrap(), device).unwrap()
}

fn ints<const N: usize>(values: [i32; N], device: &DynDevice) -> DynTensor {
    DynTensor::from_data(TensorData::new(values.to_vec(), [N]).unwrap(), device).unwrap()
}

fn values(x: DynTensor) -> Vec<f32> {
    x.into_data().unwrap().into_vec().unwrap()
}

fn text<T>(result: Result<T, Error>) -> String {
    result.err().expect("an error").to_string()
}

/// A device of another backend than `flex`.
fn other() -> DynDevice {
    "mesh:flex".parse().unwrap()
}

/// The backends of this build, by name.
fn compiled_in() -> Vec<&'static str> {
    let features = [
        ("ndarray", cfg!(feature = "ndarray")),
        ("candle", cfg!(feature = "candle")),
        ("tch", cfg!(feature = "tch")),
    ];
    let enabled = features
        .into_iter()
        .filter_map(|(name, enabled)| enabled.then_some(name));
    ["flex"].into_iter().chain(enabled).collect()
}

mod guarantees {
    use super::*;

    #[test]
    fn row_01_distributed_parameters_need_a_collective_backend() {
        let x = floats([1.0], &flex()).require_grad().unwrap();
        assert_eq!(
            text(x.set_distributed_params("w")),
            "`Flex` takes no part in collective operations; `Mesh<Flex>` joins replicas of it into a group, of which \
             `mesh:flex:2` opens one"
        );
    }

    #[test]
    fn row_02_collective_operations_need_a_collective_backend() {
        for result in [
            floats([1.0], &flex()).all_reduce(ReduceKind::Sum),
            floats([1.0], &flex()).broadcast(0),
            floats([1.0], &flex()).all_gather(0),
            floats([1.0], &flex()).reduce_scatter(0, ReduceKind::Sum),
        ] {
            assert!(matches!(result, Err(Error::NotCollective { backend, .. }) if backend == "Flex"));
        }
        let typed = Tensor::<Autodiff<Dyn>, 1>::from_array([1.0], &flex());
        let result: Result<Tensor<_, 1>, _> = typed.try_apply(|x| x.all_reduce(ReduceKind::Sum));
        assert!(matches!(result, Err(Error::NotCollective { .. })));
    }

    #[test]
    fn row_03_distributed_parameters_are_tracked() {
        let x = floats([1.0], &other());
        assert_eq!(
            text(x.set_distributed_params("w")),
            "set_distributed_params: the tensor records no gradients; call `require_grad` on a leaf it is computed from"
        );
    }

    #[test]
    fn row_04_distributed_parameters_are_floats() {
        let x = ints([1], &other());
        assert_eq!(
            text(x.set_distributed_params("w")),
            "set_distributed_params: expected a float type, got i32; `cast` converts"
        );
    }

    #[test]
    fn row_05_distributed_parameters_are_leaves() {
        let x = floats([1.0], &other()).require_grad().unwrap().exp().unwrap();
        assert_eq!(
            text(x.set_distributed_params("w")),
            "set_distributed_params: the tensor is not a leaf, `exp` produced it; mark the leaf itself, or `detach` first"
        );
    }

    #[test]
    fn row_06_gradients_are_those_of_tracked_tensors() {
        let plain = floats([1.0], &flex());
        let gradients = floats([1.0], &flex()).require_grad().unwrap().backward().unwrap();
        assert!(matches!(plain.clone().backward(), Err(Error::NotTracked { op }) if op == "backward"));
        assert!(matches!(plain.grad(&gradients), Err(Error::NotTracked { op }) if op == "grad"));
        assert!(matches!(plain.inner(), Err(Error::NotTracked { op }) if op == "inner"));
        let result = floats([1.0], &flex()).require_grad().unwrap().exp().unwrap();
        assert!(matches!(result.grad(&gradients), Err(Error::NotLeaf { producer, .. }) if producer == "exp"));
    }

    #[test]
    fn row_08_and_10_element_types_are_checked() {
        let (f, i) = (floats([1.0], &flex()), ints([1], &flex()));
        let b = f.clone().cast(DType::Bool).unwrap();
        assert_eq!(
            text(i.clone().require_grad()),
            "require_grad: expected a float type, got i32; `cast` converts"
        );
        assert_eq!(
            text(f.clone().add(i.clone())),
            "add: expected f32, as the other operand, got i32; `cast` converts"
        );
        for result in [
            i.clone().exp(),
            b.clone().neg(),
            b.clone().add(b.clone()),
            f.clone().bitwise_and(f.clone()),
            f.clone().gather(0, f.clone()),
            i.clone().add(b),
        ] {
            assert!(matches!(result, Err(Error::DType { .. })), "{result:?}");
        }
    }

    /// Row 9: a plain tensor is a constant where it meets a tracked one.
    #[test]
    fn row_09_plain_tensors_are_constants() {
        let x = floats([2.0], &flex()).require_grad().unwrap();
        let constant = floats([3.0], &flex());
        let y = x.clone().mul(constant.clone()).unwrap();
        let gradients = y.backward().unwrap();
        assert_eq!(values(x.grad(&gradients).unwrap().unwrap()), [3.0]);
        assert!(constant.grad(&gradients).is_err());
    }

    #[test]
    fn row_11_operands_are_on_one_backend() {
        let (a, b) = (floats([1.0], &flex()), floats([1.0], &other()));
        assert_eq!(
            text(a.clone().add(b.clone())),
            "add: operands are on two backends, `Flex` and `Mesh<Flex>`; move one to the other's device"
        );
        let mask = a.clone().cast(DType::Bool).unwrap();
        for result in [
            a.clone()
                .reshape([1, 1])
                .unwrap()
                .matmul(b.clone().reshape([1, 1]).unwrap()),
            DynTensor::cat(vec![a.clone(), a.clone(), b.clone()], 0),
            b.clone().mask_where(mask, a.clone()),
            a.clone().gather(0, ints([0], &other())),
        ] {
            assert!(matches!(result, Err(Error::BackendMismatch { .. })), "{result:?}");
        }
        let typed = Tensor::<Dyn, 1>::from_array([1.0], &flex());
        let far = Tensor::<Dyn, 1>::from_array([1.0], &other());
        let result: Result<Tensor<_, 1>, _> = typed.try_apply(|x| x.add(far.into_raw()));
        assert!(matches!(result, Err(Error::BackendMismatch { op, .. }) if op == "add"));
    }

    #[test]
    #[should_panic(expected = "add: operands are on two backends, `Flex` and `Mesh<Flex>`")]
    fn row_11_typed_methods_panic_with_the_same_text() {
        let a = Tensor::<Dyn, 1>::from_array([1.0], &flex());
        let b = Tensor::<Dyn, 1>::from_array([1.0], &other());
        let _ = a + b;
    }

    #[test]
    fn row_12_operands_are_on_one_device() {
        let group = DynDevice::open("mesh:flex:2").unwrap();
        let (a, b) = (floats([1.0], &group[0]), floats([1.0], &group[1]));
        let message = text(a.add(b));
        assert!(
            message.starts_with("add: operands are on two devices, "),
            "{message}"
        );
        assert!(
            message.contains("rank 0 of 2") && message.contains("rank 1 of 2"),
            "{message}"
        );
    }

    /// Row 13 and case 7: a move between backends is recorded.
    #[test]
    fn row_13_moves_are_recorded() {
        let x = floats([1.0, 2.0], &flex()).require_grad().unwrap();
        let moved = x.clone().to_device(&other()).unwrap();
        assert_eq!(moved.device(), other());
        let gradients = moved.mul(2.0f32).unwrap().sum_dim(0).unwrap().backward().unwrap();
        let grad = x.grad(&gradients).unwrap().unwrap();
        assert_eq!(grad.device(), flex());
        assert_eq!(values(grad), [2.0, 2.0]);
    }

    #[test]
    fn row_19_backends_that_are_not_compiled_in() {
        let names = compiled_in()
            .into_iter()
            .map(|name| format!("`{name}`, `mesh:{name}:2`"));
        let names = names.collect::<Vec<_>>().join(", ");
        for (name, texts) in [
            ("ndarray", ["ndarray", "mesh:ndarray:2", " NdArray "]),
            ("candle", ["candle", "mesh:candle:2", " Candle "]),
            ("tch", ["tch:cuda:0", "mesh:tch:cuda:0:2", " Tch "]),
        ] {
            if compiled_in().contains(&name) {
                assert_eq!(DynDevice::open(name).unwrap()[0].to_string(), name);
                continue;
            }
            for text in texts {
                assert_eq!(
                    super::text(DynDevice::open(text)),
                    format!(
                        "`{name}` is not compiled in; enable keyway's feature `{name}` (compiled in: {names})"
                    )
                );
            }
        }
    }

    #[test]
    fn row_20_malformed_devices() {
        for wrong in [
            "",
            "cuda:99",
            "flexx",
            "flex:",
            "flex:0",
            "mesh",
            "mesh:",
            "mesh:mesh:flex:2",
            "custom:Flex",
            "\u{0}",
        ] {
            let message = text(DynDevice::open(wrong));
            assert!(
                message.starts_with(&format!("no device `{wrong}`: expected `flex`, `mesh:flex:2`")),
                "{message}"
            );
        }
        for size in ["0", "-1", "two", "99999999999999999999", "1025", "2:2", ""] {
            let message = text(DynDevice::open(&format!("mesh:flex:{size}")));
            assert_eq!(
                message,
                format!(
                    "no device `mesh:flex:{size}`: `{size}` is no size of a group; `mesh:flex:2` opens one of two members"
                )
            );
        }
        assert_eq!(
            text("mesh:flex:2".parse::<DynDevice>()),
            "no device `mesh:flex:2`: it names a group of 2 devices; `DynDevice::open` gives all of them"
        );
    }

    /// Row 22, on a backend that holds three element types.
    #[test]
    fn row_22_element_types_that_the_backend_lacks() {
        let few = DynDevice::custom::<Few>(Default::default());
        let expected = "`Few` does not hold f64 elements; it holds f32 i32 bool";
        assert_eq!(text(floats([1.0], &few).cast(DType::F64)), expected);
        let wide = TensorData::new(vec![1.0f64], [1]).unwrap();
        assert_eq!(text(DynTensor::from_data(wide.clone(), &few)), expected);
        let elsewhere = DynTensor::from_data(wide, &flex()).unwrap();
        assert_eq!(text(elsewhere.to_device(&few)), expected);
        assert_eq!(text(DynTensor::full([1], 1.0, DType::F64, &few)), expected);
    }

    #[test]
    fn row_23_ranks_are_checked() {
        let x = floats([1.0, 2.0], &flex());
        let matrix = x.clone().reshape([2, 1]).unwrap();
        assert_eq!(
            text(matrix.clone().add(x.clone())),
            "add: expected rank 2, as the other operand (`unsqueeze` adds axes), got rank 1"
        );
        for result in [
            x.clone().matmul(matrix.clone()),
            x.clone().sum_dim(7),
            x.clone().permute([0, 1]),
            DynTensor::stack(vec![x.clone(), matrix.clone()], 0),
            x.clone().linear(x.clone(), None),
            matrix.clone().squeeze_dim(0),
            matrix.clone().unsqueeze_dim(9),
            matrix.clone().unsqueeze(usize::MAX),
            matrix.flatten(1, 0),
        ] {
            assert!(result.is_err(), "{result:?}");
        }
    }

    #[test]
    fn row_25_a_group_joins_devices_of_one_backend() {
        assert_eq!(
            text(DynDevice::mesh(
                &[flex(), flex(), other()],
                &GroupOptions::default()
            )),
            "mesh: rank 0 is on `flex`, rank 2 on `mesh:flex:1`; a group joins local devices of one backend"
        );
        assert_eq!(
            text(DynDevice::mesh(&[other()], &GroupOptions::default())),
            "mesh: rank 0 is on `mesh:flex:1`; a group joins local devices, such as `flex`"
        );
        assert_eq!(
            text(DynDevice::mesh(&[], &GroupOptions::default())),
            "mesh: a group has at least one member"
        );
        assert_eq!(
            DynDevice::mesh(&[flex(), flex()], &GroupOptions::default())
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn row_28_a_member_that_does_not_come() {
        let options = GroupOptions {
            timeout: Duration::from_millis(50),
            ..Default::default()
        };
        let group = DynDevice::open_with("mesh:flex:2", &options).unwrap();
        let message = text(floats([1.0], &group[0]).all_reduce(ReduceKind::Sum));
        assert!(message.starts_with("all_reduce(sum): rank 1: "), "{message}");
    }
}

mod devices {
    use super::*;

    #[test]
    fn text_leads_to_a_device_and_back() {
        for Available {
            text,
            collective,
            dtypes,
        } in DynDevice::available()
        {
            for device in DynDevice::open(&text).unwrap() {
                assert_eq!(device.to_string(), text);
                assert_eq!(device.is_collective(), collective);
                assert_eq!(device.dtypes(), dtypes);
            }
        }
        let group = DynDevice::open(" MESH:Flex:3 ").unwrap();
        let ranks: Vec<_> = group
            .iter()
            .map(|device| device.member().unwrap().rank())
            .collect();
        assert_eq!(ranks, [0, 1, 2]);
        assert_eq!(other().to_string(), "mesh:flex:1");
    }

    #[test]
    fn available_lists_what_is_compiled_in() {
        let texts: Vec<_> = DynDevice::available().into_iter().map(|each| each.text).collect();
        let expected = compiled_in()
            .into_iter()
            .flat_map(|name| [name.to_owned(), format!("mesh:{name}:2")]);
        // A GPU is there or is not.
        let texts: Vec<_> = texts.into_iter().filter(|text| !text.contains("cuda")).collect();
        assert_eq!(texts, expected.collect::<Vec<_>>());
    }

    /// Case 4: a tensor made on a device says that device, and every backend computes.
    #[test]
    fn tensors_keep_their_backend() {
        for Available { text, .. } in DynDevice::available() {
            for device in DynDevice::open(&text).unwrap() {
                let x = floats([1.0, 2.0], &device);
                let y = x.clone().add(x.clone()).unwrap();
                assert_eq!((x.device(), y.device()), (device.clone(), device));
                assert_eq!(values(y), [2.0, 4.0]);
            }
        }
    }

    #[test]
    fn a_third_partys_backend_is_an_arm() {
        let device = DynDevice::custom::<Few>(Default::default());
        assert_eq!(device.to_string(), "custom:Few");
        assert_eq!(device, DynDevice::custom::<Few>(Default::default()));
        assert_ne!(device, DynDevice::custom::<Flex>(Default::default()));
        let x = floats([1.0, 2.0], &device).require_grad().unwrap();
        let y = x.clone().mul(x.clone()).unwrap();
        let gradients = y.backward().unwrap();
        assert_eq!(values(x.grad(&gradients).unwrap().unwrap()), [2.0, 4.0]);
        let mixed = x.clone().add(floats([1.0, 2.0], &flex()));
        assert_eq!(
            text(mixed),
            "add: operands are on two backends, `Few` and `Flex`; move one to the other's device"
        );
        assert_eq!(values(x.to_device(&flex()).unwrap()), [1.0, 2.0]);
    }

    #[test]
    fn a_third_partys_panic_is_an_error() {
        let x = floats([1.0], &DynDevice::custom::<Few>(Default::default()));
        assert_eq!(text(x.erf()), "erf on `Few`: panicked: no erf here");
    }

    #[test]
    fn a_third_partys_group_works_through_its_arm() {
        let group = Mesh::<Flex>::open(2).unwrap();
        let members = group.into_iter().map(|device| {
            thread::spawn(move || {
                let device = DynDevice::custom::<Mesh<Flex>>(device);
                values(floats([1.5], &device).all_reduce(ReduceKind::Sum).unwrap())
            })
        });
        for member in members.collect::<Vec<_>>() {
            assert_eq!(member.join().unwrap(), [3.0]);
        }
    }
}

mod types {
    use super::*;

    #[test]
    fn a_tensor_becomes_typed_or_comes_back() {
        let x = floats([1.0, 2.0], &flex());
        let typed: Tensor<Flex, 1> = x.clone().try_into().unwrap();
        assert_eq!(typed.clone().into_vec().unwrap(), [1.0, 2.0]);
        assert_eq!(values(DynTensor::from(typed)), [1.0, 2.0]);

        let ConversionError { tensor, error } = Tensor::<Flex, 1, i32>::try_from(x.clone()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "try_from: expected i32, got f32; `cast` converts"
        );
        assert_eq!(values(tensor), [1.0, 2.0]);
        let refused = Tensor::<Mesh<Flex>, 1>::try_from(x).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "try_from: operands are on two backends, `Flex` and `MeshFlex`; move one to the other's device"
        );
    }

    #[test]
    fn a_leaf_stays_the_leaf_it_is() {
        let x = floats([3.0], &other())
            .require_grad()
            .unwrap()
            .set_distributed_params("w")
            .unwrap();
        let typed: Tensor<Autodiff<Mesh<Flex>>, 1> = x.clone().try_into().unwrap();
        assert_eq!(typed.distributed_params(), Some("w".into()));
        let gradients = (typed.clone() * typed.clone()).backward().sync().unwrap();
        assert_eq!(typed.grad(&gradients).unwrap().into_vec().unwrap(), [6.0]);

        let back: DynTensor = typed.try_into().unwrap();
        let gradients = x.clone().mul(back).unwrap().backward().unwrap();
        assert_eq!(
            values(x.grad(&gradients).unwrap().unwrap()),
            [6.0],
            "both are one leaf"
        );
    }

    #[test]
    fn a_graph_does_not_change_its_types() {
        let x = floats([3.0], &flex()).require_grad().unwrap();
        let message =
            "try_from: the tensor is tracked (by `exp`), and its graph cannot come along; `detach` it first";
        let refused = Tensor::<Autodiff<Flex>, 1>::try_from(x.clone().exp().unwrap()).unwrap_err();
        assert_eq!(refused.error.to_string(), message);
        assert!(refused.tensor.is_tracked());
        assert!(matches!(
            Tensor::<Flex, 1>::try_from(x).unwrap_err().error,
            Error::Tracked { .. }
        ));

        let typed = Tensor::<Autodiff<Flex>, 1>::from_array([3.0], &Default::default()).require_grad();
        let refused = DynTensor::try_from(typed.exp()).unwrap_err();
        assert_eq!(refused.error.to_string(), message);
    }

    fn total<B: PlainBackend + Readable>(values: [f32; 2], device: &B::Device) -> f32 {
        Tensor::<B, 1>::from_array(values, device)
            .sum()
            .into_scalar()
            .unwrap()
    }

    #[test]
    fn dispatch_runs_typed_code() {
        for Available { text, .. } in DynDevice::available() {
            for device in DynDevice::open(&text).unwrap() {
                let (name, sum) = dispatch!(device, |B, device| {
                    (B::name(&device), total::<B>([1.0, 2.0], &device))
                });
                assert_eq!(sum, 3.0);
                assert_eq!(
                    text.starts_with("mesh:"),
                    name.starts_with("Mesh<"),
                    "{text}: {name}"
                );
            }
        }
        let custom = DynDevice::custom::<Few>(Default::default());
        assert_eq!(
            dispatch!(custom, |B, device| total::<B>([1.0, 2.0], &device)),
            3.0
        );
    }

    #[test]
    fn collective_dispatch_refuses_what_is_in_no_group() {
        let sizes = DynDevice::open("mesh:flex:2").unwrap().into_iter().map(|device| {
            dispatch_collective!(device, |B, device| <B as CollectiveBackend>::member(&device)
                .size())
            .unwrap()
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [2, 2]);
        let refused: Result<usize, _> =
            dispatch_collective!(flex(), |B, device| <B as CollectiveBackend>::member(&device)
                .size());
        assert!(matches!(refused, Err(Error::NotCollective { backend, .. }) if backend == "Flex"));
    }

    struct Size;
    impl CollectiveVisitor for Size {
        type Output = usize;
        fn visit<B: PlainBackend + Readable + CollectiveBackend>(self, device: B::Device) -> usize {
            B::member(&device).size()
        }
    }

    #[test]
    fn visitors_are_the_same_without_macros() {
        assert_eq!(other().visit_collective(Size), Ok(1));
        assert!(matches!(
            flex().visit_collective(Size),
            Err(Error::NotCollective { .. })
        ));
        let custom = DynDevice::custom::<Mesh<Flex>>(Default::default());
        assert!(matches!(
            custom.visit_collective(Size),
            Err(Error::NotCollective { .. })
        ));
    }
}

mod training {
    use super::*;

    type Model = Linear<Autodiff<Dyn>>;

    /// Ten steps on this member's share; gives the parameters.
    fn train(device: &DynDevice, share: f32) -> Result<Vec<f32>, Error> {
        device.seed(share.to_bits().into());
        let mut model: Model = LinearConfig::new(2, 1).init(device);
        if device.is_collective() {
            model = model.try_distribute()?;
        }
        let mut sgd = SgdConfig::new().with_momentum(0.9).init();
        let x = Tensor::from_array([[share, 1.0], [0.5, -share]], device);
        for _ in 0..10 {
            let error = model.forward(x.clone()) - 1.0;
            let gradients = (error.clone() * error).mean().backward();
            sgd.step(0.05, &mut model, &gradients.sync()?)?;
        }
        let record = model.record()?;
        Ok(record
            .values()
            .flat_map(|data| data.iter::<f32>().collect::<Vec<_>>())
            .collect())
    }

    fn run(text: &str) -> Vec<Vec<f32>> {
        let members = DynDevice::open(text)
            .unwrap()
            .into_iter()
            .enumerate()
            .map(|(rank, device)| thread::spawn(move || train(&device, 1.0 + rank as f32).unwrap()));
        let members: Vec<_> = members.collect();
        members.into_iter().map(|member| member.join().unwrap()).collect()
    }

    #[test]
    fn a_group_ends_bit_identical() {
        let [a, b] = &run("mesh:flex:2")[..] else {
            panic!("two members")
        };
        assert_eq!(a, b);
        let alone = &run("flex")[0];
        assert_ne!(a, alone, "the members' shares differ, and so does their mean");
        assert_eq!(alone, &run("mesh:flex:1")[0]);
    }

    /// Cases 6 and 7: a model moves with its buffers, and its parameters stay the leaves they are.
    #[test]
    fn a_model_moves_to_another_backend() {
        let (from, to) = (flex(), other());
        let model: BatchNorm<Autodiff<Dyn>> = BatchNormConfig::new(1).init(&from);
        let x = |device: &DynDevice| Tensor::<Autodiff<Dyn>, 4>::from_array([[[[1.0, 3.0]]]], device);
        model.forward(x(&from));
        let weight = model.weight.val();
        let before = model.record().unwrap();
        let moved = model.to_device(&to).unwrap();
        moved
            .for_each(|_, x| {
                assert_eq!(x.device(), to);
                Ok(())
            })
            .unwrap();
        assert_eq!(moved.record().unwrap(), before);
        assert_ne!(
            moved.running_mean.val().into_vec().unwrap(),
            [0.0],
            "the statistics moved too"
        );
        let y = moved.forward(x(&to));
        let gradients = (y.clone() * y).sum().backward();
        let grad = weight
            .grad(&gradients)
            .expect("the same leaf")
            .into_vec()
            .unwrap();
        assert!((grad[0] - 4.0).abs() < 1e-3, "{grad:?}");
    }

    #[test]
    fn a_model_alone_cannot_be_distributed() {
        let model: Model = LinearConfig::new(2, 1).init(&flex());
        assert!(matches!(
            model.try_distribute().map(|_| ()),
            Err(Error::NotCollective { .. })
        ));
    }

    #[test]
    fn all_reduce_is_differentiable_through_dyn() {
        let members = DynDevice::open("mesh:flex:2").unwrap().into_iter().map(|device| {
            thread::spawn(move || {
                let x = floats([1.0], &device).require_grad().unwrap();
                let sum = x.clone().all_reduce(ReduceKind::Sum).unwrap();
                let gradients = sum.backward().unwrap();
                values(x.grad(&gradients).unwrap().unwrap())
            })
        });
        for member in members.collect::<Vec<_>>() {
            assert_eq!(member.join().unwrap(), [2.0]);
        }
    }

    /// A leaf that came from another backend has its gradient there, which the group leaves as it is.
    #[test]
    fn leaves_elsewhere_are_not_synchronised() {
        let members = DynDevice::open("mesh:flex:2")
            .unwrap()
            .into_iter()
            .enumerate()
            .map(|(rank, device)| {
                thread::spawn(move || {
                    let typed =
                        |values, device: &DynDevice| Tensor::<Autodiff<Dyn>, 1>::from_array(values, device);
                    let far = typed([2.0 + rank as f32], &flex()).require_grad();
                    let near = typed([1.0], &device)
                        .try_apply::<1, f32>(|x| x.require_grad()?.set_distributed_params("w"))
                        .unwrap();
                    let gradients = (near.clone() * far.clone().to_device(&device))
                        .backward()
                        .sync()
                        .unwrap();
                    let grad = |x: &Tensor<_, 1>| x.grad(&gradients).unwrap().into_scalar().unwrap();
                    (grad(&near), grad(&far))
                })
            });
        for member in members.collect::<Vec<_>>() {
            assert_eq!(member.join().unwrap(), (2.5, 1.0));
        }
    }
}

keyway::backends! {
    /// A set of this program's own, with a third party's backend.
    struct Own;
    /// Its device.
    enum OwnDevice;
    /// Its tensor.
    enum OwnTensor;
    Flex(Flex),
    Few(Few),
}

#[test]
fn a_program_declares_its_own_set() {
    for device in [
        OwnDevice::Flex(Default::default()),
        OwnDevice::Few(Default::default()),
    ] {
        let x = Tensor::<Autodiff<Own>, 1>::from_array([1.0, 2.0], &device).require_grad();
        let gradients = x.clone().exp().sum().backward().sync().unwrap();
        let grad = x.grad(&gradients).unwrap().into_vec().unwrap();
        assert_eq!(grad, [1f32.exp(), 2f32.exp()]);
    }
}

/// The program in `examples/`: the device from the environment, a flag that overrides it, and what neither can be.
#[test]
fn a_program_chooses_its_device() {
    let run = |variable, args: &[&str]| example("choose_backend", args, &[("KEYWAY_DEVICE", variable)]);
    let line = |rank: usize| format!("rank {rank}: y = 3.000 x\n");
    assert_eq!(
        run("mesh:flex:2", &[]),
        (Some(0), line(0) + &line(1), String::new())
    );
    assert_eq!(
        run("mesh:flex:2", &["--device", "flex"]),
        (Some(0), line(0), String::new())
    );
    let (code, stdout, stderr) = run("tpu", &[]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(
        stderr.starts_with("error: no device `tpu`: expected `flex`, `mesh:flex:2`"),
        "{stderr}"
    );
}
