//! What is `LibTorch`'s alone; what it has in common with the others, their tests hold it to.
#![cfg(feature = "tch")]

mod support;

use std::thread;

use keyway::backend::{BackendTypes, Route, observe};
use keyway::collective::MeshDevice;
use keyway::op::{ConvOptions, MoveOp, Op, PoolOp, PoolOptions, UnaryOp};
use keyway::prelude::*;
use keyway::raw::Raw;
use keyway::{DType, DynDevice};
use support::{Layout, ops};

type Values = <LibTorch as BackendTypes>::Primitive;

fn line(values: &[f32]) -> Tensor<LibTorch, 1> {
    let data = TensorData::new(values.to_vec(), [values.len()]).unwrap();
    Tensor::try_from_data(data, &LibTorchDevice::default()).unwrap()
}

fn read(x: &Tensor<LibTorch, 1>) -> Vec<f32> {
    x.clone().into_vec().unwrap()
}

/// What nobody else holds may be written to; what a view, its tensor or another thread holds, must not.
#[test]
fn writing_in_place_is_not_seen_elsewhere() {
    let x = line(&[1.0, 2.0, 3.0]);
    let view = x.clone().slice(s![1..3]);
    assert_eq!(read(&view.clone().exp().log().round()), [2.0, 3.0]);
    assert_eq!((read(&x), read(&view)), (vec![1.0, 2.0, 3.0], vec![2.0, 3.0]));
    // The last holder of a part writes to it; the whole is gone.
    drop(x);
    assert_eq!(read(&(view + 1.0)), [3.0, 4.0]);
    // A view of a view.
    let x = line(&[1.0, 2.0, 3.0, 4.0]);
    let part = x.clone().slice(s![0..3]).slice(s![1..3]);
    let negated = part.neg();
    assert_eq!(
        (read(&x), read(&negated)),
        (vec![1.0, 2.0, 3.0, 4.0], vec![-2.0, -3.0])
    );
    // All elements of a stretched one are one element.
    let stretched = line(&[1.0]).expand([3]);
    assert_eq!(read(&(stretched + line(&[1.0, 2.0, 3.0]))), [2.0, 3.0, 4.0]);
}

/// Nor is what an op gives one of its operands under another name: writing to it in place leaves them as they were.
#[test]
fn results_are_not_operands() {
    let device = LibTorchDevice::default();
    for (s, &shape) in [&[][..], &[1], &[3, 4], &[1, 1], &[2, 1, 5], &[1, 2, 4, 3]]
        .iter()
        .enumerate()
    {
        for (d, &dtype) in LibTorch::dtypes(&device).iter().enumerate() {
            for (i, op) in ops(&shape.into(), dtype).into_iter().enumerate() {
                let layout = Layout::ALL[(s + d + i) % Layout::ALL.len()];
                let placed = op.try_map(|x| x.place::<LibTorch>(layout, i as u64, &device, |x| x));
                // Of an element type that it does not hold.
                let Ok(op) = placed else { continue };
                let read = |op: &Op<Raw<LibTorch>>| {
                    let mut values = vec![];
                    op.visit(|x| values.push(x.to_data().unwrap().to_le_bytes()));
                    values
                };
                let before = read(&op);
                let Ok(result) = Raw::run(op.clone()) else {
                    continue;
                };
                let change = match result.dtype() {
                    DType::Bool => UnaryOp::LogicalNot,
                    dtype if dtype.is_int() => UnaryOp::BitwiseNot,
                    _ => UnaryOp::Neg,
                };
                let changed = Raw::run(Op::Unary(change, result)).unwrap();
                assert!(before == read(&op), "{op:?} in {layout:?}, then {changed:?}");
            }
        }
    }
}

#[test]
fn two_threads_read_one_tensor() {
    let x = Tensor::<LibTorch, 2>::random([64, 64], Distribution::Default, &LibTorchDevice::new(7));
    let expected = x.clone().matmul(x.clone()).sum().into_scalar().unwrap();
    thread::scope(|scope| {
        let work = || {
            for _ in 0..200 {
                let view = x.clone().transpose().transpose();
                assert_eq!(view.clone().matmul(view).sum().into_scalar().unwrap(), expected);
                let _ = x.clone() * 2.0 + x.clone().exp();
            }
        };
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn members_of_a_group_agree() -> Result<(), Error> {
    let devices = Mesh::<LibTorch>::open(2)?;
    let sums = thread::scope(|scope| {
        let member = |device: MeshDevice<LibTorch>| {
            let x = Tensor::<Mesh<LibTorch>, 1>::try_from_data(
                TensorData::new(vec![1.0f32 + device.rank() as f32, 5.0], [2])?,
                &device,
            )?;
            x.all_reduce(ReduceKind::Sum)?.into_vec()
        };
        let threads = devices
            .into_iter()
            .map(|device| scope.spawn(move || member(device)));
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Result<Vec<_>, Error>>()
    })?;
    assert_eq!(sums, [[3.0, 10.0], [3.0, 10.0]]);
    Ok(())
}

/// The engine's own failures are one line, with the op, and no trace.
#[test]
fn failures_are_one_line() {
    // `op::run` would refuse it.
    let x: Values = line(&[1.0, 2.0]).into_raw().into_primitive();
    let meta = keyway::op::Meta {
        shape: [3].into(),
        dtype: DType::F32,
    };
    let error = LibTorch::execute(Op::Move(MoveOp::Reshape([3].into()), x), &meta).unwrap_err();
    assert_eq!(
        error.to_string(),
        "reshape on `LibTorch`: shape '[3]' is invalid for input of size 2"
    );
}

/// libtorch holds padding, and some windows, in memory: where that were much beside the operands, the host calculates.
#[test]
fn huge_padding_and_windows_go_by_the_host() -> Result<(), Error> {
    let device = LibTorchDevice::default();
    let ones = |shape: &[usize]| Raw::<LibTorch>::ones(shape, DType::F32, &device);
    let every_million = ConvOptions {
        stride: [1_000_000; 2][..].into(),
        padding: [(1_000_000, 1_000_000); 2].into(),
        dilation: [1; 2][..].into(),
        groups: 1,
    };
    let conv = |options: ConvOptions| {
        let (image, kernel) = (ones(&[1, 1, 2, 2])?, ones(&[1, 1, 1, 1])?);
        let (y, route) = observe(|| image.conv(kernel, None, options));
        Ok::<_, Error>((y?.into_data()?.into_vec::<f32>()?, route))
    };
    let middle = vec![0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(conv(every_million.clone())?, (middle, Route::Host));
    let each = ConvOptions {
        stride: [1; 2][..].into(),
        padding: [(0, 0); 2].into(),
        ..every_million
    };
    assert_eq!(conv(each)?, (vec![1.0; 4], Route::Native));

    // Of NaNs, the windows are looked through.
    const LEN: usize = 500_000;
    let pool = |nan: Option<usize>| {
        let mut values = vec![0.0; LEN];
        if let Some(place) = nan {
            values[place] = f32::NAN;
        }
        let x = line(&values).into_raw().reshape([1, 1, LEN])?;
        let mut options = PoolOptions::new(&[LEN][..]);
        options.padding[0] = (LEN / 2, LEN / 2);
        options.stride[0] = LEN / 400;
        let (y, route) = observe(|| Raw::run(Op::Pool(Box::new(PoolOp::MaxIndices(options)), x)));
        Ok::<_, Error>((y?.into_data()?.into_vec::<i32>()?[200], route))
    };
    assert_eq!(pool(None)?, (0, Route::Native));
    assert_eq!(pool(Some(7))?, (7, Route::Host));
    Ok(())
}

/// A view takes no memory, and is not refused for it.
#[test]
fn a_huge_view_is_reshaped() -> Result<(), Error> {
    const HUGE: usize = 1 << 45;
    let x = Raw::<LibTorch>::ones([1, 3], DType::F32, &Default::default())?.expand([HUGE, 3])?;
    let y = x.clone().reshape([HUGE / 4, 4, 3])?;
    assert_eq!(y.narrow(0, 9, 1)?.into_data()?.into_vec::<f32>()?, [1.0; 12]);
    let error = x.reshape([3, HUGE]).unwrap_err().to_string();
    assert!(error.contains("more than can be allocated"), "{error}");
    Ok(())
}

#[test]
fn unsigned_types_are_not_held() {
    let device: DynDevice = "tch".parse().unwrap();
    let error = keyway::DynTensor::ones([1], DType::U32, &device).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`LibTorch` does not hold u32 elements; it holds f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool"
    );
    // Nor by an op that was not asked for by its method.
    let cast = Raw::<LibTorch>::run(Op::Cast(DType::U16, line(&[1.0]).into_raw()));
    assert!(matches!(cast, Err(Error::Unsupported { got: DType::U16, .. })));
}

#[test]
fn a_gpu_is_there_or_an_error() {
    match DynDevice::open("tch:cuda:0") {
        Ok(devices) => {
            assert_eq!(devices[0].to_string(), "tch:cuda:0");
            assert_ne!(devices[0], "tch".parse().unwrap());
            let x = keyway::DynTensor::ones([2], DType::F32, &devices[0]).unwrap();
            assert_eq!(x.clone().exp().unwrap().device(), devices[0]);
            let moved = x.to_device(&"tch".parse().unwrap()).unwrap();
            assert_eq!(moved.into_vec::<f32>().unwrap(), [1.0, 1.0]);
        }
        Err(error) => assert_eq!(
            error.to_string(),
            "no device `tch:cuda:0`: libtorch finds no GPU; it takes a build of libtorch with CUDA, and a driver for the GPU"
        ),
    }
    assert!(DynDevice::open("tch:cuda:4096").is_err());
    for wrong in [
        "tch:",
        "tch:cuda",
        "tch:cuda:",
        "tch:cuda:x",
        "tch:cpu:0",
        "tch:0",
    ] {
        let error = DynDevice::open(wrong).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("no device `{wrong}`: expected `flex`")),
            "{error}"
        );
    }
    for group in ["mesh:tch:cuda:4096:2", "mesh:tch:cuda:4096"] {
        let error = DynDevice::open(group).unwrap_err().to_string();
        assert!(
            error.starts_with("no device `tch:cuda:4096`: libtorch finds "),
            "{error}"
        );
    }
}
