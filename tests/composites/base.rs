//! Elements, order, indices, reductions.

use keyway::op::ScatterMode;
use keyway::prelude::*;
use keyway::{DType, DynDevice, DynTensor};

use crate::check::{
    Outputs, bools, devices, float, gradients, ints, normal, one, refused, slope, tensor, two, values,
};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Bits but for NaN.
#[track_caller]
fn same(got: DynTensor, want: &[f64]) {
    let got = got.into_vec_as::<f64>().unwrap();
    let alike = got.len() == want.len()
        && got
            .iter()
            .zip(want)
            .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
    assert!(alike, "{got:?} is not {want:?}");
}

#[test]
fn reductions() {
    gradients([normal(&[2, 3, 4])], |[x]| one(x.var(1)));
    gradients([normal(&[3, 4])], |[x]| two(x.var_mean_bias(0)));
    gradients([normal(&[3, 4])], |[x]| one(x.std(1)));
    gradients([float(&[2, 3], 0.2, 2.0)], |[x]| one(x.prod_dims(&[0, 1])));
    gradients([normal(&[2, 3, 4])], |[x]| one(x.sum_dims_squeeze(&[0, 2])));
    gradients([normal(&[2, 3, 4])], |[x]| one(x.max_abs_dims(&[0, 2])));
    gradients([normal(&[3, 4])], |[x]| two(x.median_with_indices(1)));
    for device in devices() {
        let x = || tensor(&[2.0, NAN, NAN, 1.0, 3.0, 1.0], &[2, 3], &device);
        let (median, place) = x().median_with_indices(1).unwrap();
        same(median, &[NAN, 1.0]);
        same(place, &[1.0, 2.0]);
        refused("median", x().slice_dim(1, 0..0).unwrap().median_with_indices(1));
        same(x().sum_dims_squeeze(&[0, 1]).unwrap(), &[NAN]);
        assert_eq!(x().sum_dims_squeeze(&[0, 1]).unwrap().rank(), 0);
        assert!(x().sum_dims_squeeze(&[0, 0]).is_err());
        assert!(x().max_abs_dims(&[2]).is_err());
    }
}

#[test]
fn covariances_are_of_the_last_two_axes() {
    gradients([normal(&[2, 3, 4])], |[x]| one(x.cov(1, 1)));
    gradients([normal(&[2, 3, 4])], |[x]| one(x.cov(2, 0)));
    for device in devices() {
        let x = DynTensor::ones([2, 3, 4], DType::F32, &device).unwrap();
        assert_eq!(x.clone().cov(1, 1).unwrap().shape()[..], [2, 4, 4]);
        assert_eq!(x.clone().cov(2, 1).unwrap().shape()[..], [2, 3, 3]);
        let text = refused("cov", x.clone().cov(0, 1));
        assert!(text.contains("axis 0 is a batch axis"), "{text}");
        let text = refused("cov", x.int().unwrap().cov(1, 1));
        assert!(text.contains("a float type"), "{text}");
    }
}

/// `|y|` wraps for the least integer.
#[test]
fn remainders_by_the_least_integer() {
    fn check<E: IntElement>(x: &[i8], y: &[i8], want: &[f64], device: &DynDevice) {
        if !device.dtypes().contains(&E::DTYPE) {
            return;
        }
        let of = |values: &[i8]| {
            let values: Vec<E> = values
                .iter()
                .map(|&v| E::from_scalar(i64::from(v).into()))
                .collect();
            tensor(&values, &[values.len()], device)
        };
        same(of(x).fmod(of(y)).unwrap(), want);
    }
    const MIN: i8 = i8::MIN;
    for device in devices() {
        let (x, y) = (
            [5, -5, MIN, 0, 7, -7, 6, MIN],
            [MIN, MIN, MIN, MIN, -3, 3, -3, -1],
        );
        check::<i8>(&x, &y, &[5.0, -5.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0], &device);
        check::<i64>(&[7, -7, -6], &[-3, 3, 3], &[1.0, -1.0, 0.0], &device);
        check::<u8>(&[7, 6, 0], &[3, 3, 5], &[1.0, 0.0, 0.0], &device);
        let by = tensor(&[5, -5], &[2], &device).fmod(i32::MIN).unwrap();
        same(by, &[5.0, -5.0]);
        let rows = tensor(&[5, -5], &[2, 1], &device).fmod(tensor(&[3, i32::MIN], &[1, 2], &device));
        same(rows.unwrap(), &[2.0, 5.0, -2.0, -5.0]);
    }
}

#[test]
fn parts_of_every_number() {
    gradients([normal(&[7, 2])], |[x]| x.split(2, 0));
    gradients([normal(&[2, 7])], |[x]| x.split_with_sizes(&[3, 0, 1, 2, 1], 1));
    gradients([normal(&[5])], |[x]| Ok(x.iter_dim(0)?.collect()));
    for device in devices() {
        let x = || DynTensor::arange(0..7, DType::F64, &device).unwrap();
        let parts = x().split_with_sizes(&[3, 0, 1, 2, 1], 0).unwrap();
        let want = [&[0.0, 1.0, 2.0][..], &[], &[3.0], &[4.0, 5.0], &[6.0]];
        assert_eq!(parts.len(), want.len());
        parts
            .into_iter()
            .zip(want)
            .for_each(|(part, want)| same(part, want));
        assert!(x().slice_dim(0, 0..0).unwrap().split(2, 0).unwrap().is_empty());
    }
}

/// Some n log n numbers for n parts; n² of them, each a zero beside a part, would take half a minute here.
#[test]
fn the_gradients_of_many_parts() {
    let x = DynTensor::ones([1 << 18], DType::F32, &DynDevice::default()).unwrap();
    let x = x.require_grad().unwrap();
    let parts = x.clone().split(1, 0).unwrap();
    let loss = DynTensor::cat(parts, 0).unwrap().sum().unwrap();
    let gradient = x.grad(&loss.backward().unwrap()).unwrap().unwrap();
    same(gradient.sum().unwrap(), &[f64::from(1 << 18)]);
}

#[test]
fn logarithms() {
    gradients([float(&[6], 0.1, 20.0)], |[x]| one(x.log2()));
    gradients([float(&[6], 0.1, 20.0)], |[x]| one(x.log10()));
    gradients(
        [values(&[5], &[8.0, 0.25, 1.0, 1024.0, 3.0])],
        |[x]| one(x.log2()),
    );
    gradients([values(&[4], &[0.1, 1.0, 1e5, 2.0])], |[x]| one(x.log10()));
    for device in devices() {
        fn exact<E: FloatElement>(two: std::ops::Range<i32>, ten: std::ops::Range<i32>, device: &DynDevice) {
            let powers: Vec<E> = two.clone().map(|k| power("2", k)).collect();
            let want: Vec<f64> = two.map(f64::from).collect();
            same(tensor(&powers, &[powers.len()], device).log2().unwrap(), &want);
            let powers: Vec<E> = ten.clone().map(|k| power("10", k)).collect();
            let want: Vec<f64> = ten.map(f64::from).collect();
            same(tensor(&powers, &[powers.len()], device).log10().unwrap(), &want);
        }
        fn power<E: FloatElement>(base: &str, k: i32) -> E {
            let exact = match base {
                "2" => 2f64.powi(k.max(-1022)) * 2f64.powi((k + 1022).min(0)),
                _ if E::DTYPE == DType::F32 => format!("1e{k}").parse::<f32>().unwrap().into(),
                _ => format!("1e{k}").parse().unwrap(),
            };
            E::from_scalar(exact.into())
        }
        exact::<f64>(-1074..1024, -307..309, &device);
        exact::<f32>(-149..128, -37..39, &device);
        exact::<keyway::f16>(-24..16, -3..5, &device);
        let special = tensor(&[0.0, -0.0, INF, NAN, -1.0, -INF], &[6], &device);
        same(special.clone().log2().unwrap(), &[-INF, -INF, INF, NAN, NAN, NAN]);
        same(special.log10().unwrap(), &[-INF, -INF, INF, NAN, NAN, NAN]);
        same(
            slope(tensor(&[0.0, INF], &[2], &device), DynTensor::log2),
            &[INF, 0.0],
        );
        // Beside powers, and far from them.
        for x in [8f64 + 2e-15, 8.0 - 1e-15, 7.999, 8.0001, 1e-320, 3.0, 1e300] {
            for (got, want) in [
                (tensor(&[x], &[1], &device).log2(), x.log2()),
                (tensor(&[x], &[1], &device).log10(), x.log10()),
            ] {
                let got = got.unwrap().into_vec::<f64>().unwrap()[0];
                assert!(
                    (got - want).abs() <= 4e-16 * want.abs(),
                    "{x}: {got} is not {want}"
                );
            }
        }
        refused("log2", tensor(&[1], &[1], &device).log2());
    }
}

#[test]
fn decimals_and_angles() {
    gradients([normal(&[4])], |[x]| one(x.deg2rad()));
    gradients([normal(&[4])], |[x]| one(x.rad2deg()));
    gradients([normal(&[4])], |[x]| one(x.round_to(1)));
    for device in devices() {
        let x = || {
            tensor(
                &[0.125, 0.375, -2.5, 1249.0, 1250.0, 1e300, INF, -INF, NAN, -0.0],
                &[10],
                &device,
            )
        };
        let ends = [1e300, INF, -INF, NAN, -0.0];
        let want = |first: [f64; 5]| [first, ends].concat();
        same(
            x().round_to(2).unwrap(),
            &want([0.12, 0.38, -2.5, 1249.0, 1250.0]),
        );
        same(x().round_to(0).unwrap(), &want([0.0, 0.0, -2.0, 1249.0, 1250.0]));
        same(x().round_to(-2).unwrap(), &want([0.0, 0.0, -0.0, 1200.0, 1200.0]));
        // What would overflow when it is scaled is whole.
        let large = tensor(&[3e38f32, -1.5e30, 0.1], &[3], &device);
        same(
            large.clone().round_to(20).unwrap(),
            &[3e38f32.into(), f64::from(-1.5e30f32), 0.1f32.into()],
        );
        let text = refused("round_to", large.clone().round_to(32));
        assert!(text.contains("32 decimals") && text.contains("f32"), "{text}");
        refused("round_to", large.clone().round_to(i32::MIN));
        refused("round_to", large.int().unwrap().round_to(1));
        same(slope(x(), |x| x.round_to(2)), &[0.0; 10]);
    }
}

#[test]
fn errors_name_the_function_that_was_called() {
    for device in devices() {
        let of = |shape: &[usize]| DynTensor::ones(shape, DType::F32, &device).unwrap();
        let (x, odd, truth) = (of(&[2, 3]), of(&[2, 4]), of(&[2, 3]).bool().unwrap());
        let text = refused("stack", DynTensor::stack(vec![x.clone(), odd.clone()], 0));
        assert!(text.contains("[2, 3]") && text.contains("[2, 4]"), "{text}");
        refused("stack", DynTensor::stack(vec![], 0));
        refused("stack", DynTensor::stack(vec![x.clone(), truth.clone()], 0));
        refused("stack", DynTensor::stack(vec![x.clone()], 4));
        let text = refused("prelu", x.clone().prelu(of(&[2])));
        assert!(text.contains("2 slopes for 3 channels"), "{text}");
        refused("prelu", x.clone().prelu(of(&[3]).int().unwrap()));
        refused("powf", x.clone().powf(odd.clone()));
        refused("powi", x.clone().powi(odd.clone()));
        refused("powf", truth.clone().powf(2));
        refused("fmod", x.clone().fmod(odd.clone()));
        refused("argtopk", x.clone().argtopk(9, 1));
        refused("mask_select", x.clone().mask_select(odd.bool().unwrap()));
    }
}

#[test]
fn closeness_of_nan() {
    for device in devices() {
        let x = tensor(&[NAN, INF, -INF, INF, 1.0], &[5], &device);
        let y = tensor(&[NAN, INF, INF, 1.0, INF], &[5], &device);
        same(x.is_close(y, None, None).unwrap(), &[0.0, 1.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn rows_of_indices() {
    let at = || ints(&[2, 2, 2], &[1, 0, 1, 2, 0, 1, 1, 0]);
    gradients([normal(&[2, 3, 2]), at()], |[x, at]| one(x.gather_nd(at)));
    for &mode in ScatterMode::ALL {
        gradients(
            [normal(&[2, 3, 2]), at(), float(&[2, 2, 2], 0.3, 1.7)],
            |[x, at, v]| one(x.scatter_nd(at, v, mode)),
        );
    }
    for device in devices() {
        let x = || tensor(&[0, 1, 2, 3, 4, 5], &[2, 3], &device);
        let at = |places: &[i64], shape: &[usize]| tensor(places, shape, &device);
        let found = x().gather_nd(at(&[1, 2, 0, 0], &[2, 2])).unwrap();
        assert_eq!(found.shape()[..], [2]);
        same(found, &[5.0, 0.0]);
        let found = x().gather_nd(at(&[1, 1], &[2, 1])).unwrap();
        assert_eq!(found.shape()[..], [2, 3]);
        same(found, &[3.0, 4.0, 5.0, 3.0, 4.0, 5.0]);
        // Rows of nothing name the whole tensor, no rows nothing.
        assert_eq!(x().gather_nd(at(&[], &[2, 0])).unwrap().shape()[..], [2, 2, 3]);
        assert_eq!(x().gather_nd(at(&[], &[0, 2])).unwrap().shape()[..], [0]);
        let empty = x().slice_dim(0, 0..0).unwrap();
        assert_eq!(
            empty.clone().gather_nd(at(&[], &[0, 1])).unwrap().shape()[..],
            [0, 3]
        );
        refused("gather_nd", empty.gather_nd(at(&[0], &[1, 1])));
        // Within the tensor, but outside an axis.
        let text = refused("gather_nd", x().gather_nd(at(&[0, 3], &[1, 2])));
        assert!(
            text.contains("index 3 is out of range for axis 1 of size 3"),
            "{text}"
        );
        let text = refused("gather_nd", x().gather_nd(at(&[-1, 2], &[1, 2])));
        assert!(
            text.contains("index -1 is out of range for axis 0 of size 2"),
            "{text}"
        );
        refused("gather_nd", x().gather_nd(at(&[0, 0, 0], &[1, 3])));
        refused("gather_nd", x().gather_nd(at(&[0], &[])));
        refused("gather_nd", x().gather_nd(at(&[1, 1], &[1, 2]).float().unwrap()));

        let twice = || at(&[1, 2, 0, 1, 1, 2], &[3, 2]);
        let write = |mode| {
            x().scatter_nd(twice(), tensor(&[7, 2, -2], &[3], &device), mode)
                .unwrap()
        };
        same(write(ScatterMode::Set), &[0.0, 2.0, 2.0, 3.0, 4.0, -2.0]);
        same(write(ScatterMode::Add), &[0.0, 3.0, 2.0, 3.0, 4.0, 10.0]);
        same(write(ScatterMode::Mul), &[0.0, 2.0, 2.0, 3.0, 4.0, -70.0]);
        same(write(ScatterMode::Max), &[0.0, 2.0, 2.0, 3.0, 4.0, 7.0]);
        same(write(ScatterMode::Min), &[0.0, 1.0, 2.0, 3.0, 4.0, -2.0]);
        let wrong = x().scatter_nd(twice(), tensor(&[7, 2], &[2], &device), ScatterMode::Set);
        let text = refused("scatter_nd", wrong);
        assert!(text.contains("the values need the shape [3]"), "{text}");
        refused(
            "scatter_nd",
            x().scatter_nd(twice(), tensor(&[1f32; 3], &[3], &device), ScatterMode::Set),
        );
    }
}

/// Where factors are 0 the gradient is the product of the others, not a quotient.
#[test]
fn products_written_over_zeros() {
    let x = || values(&[4], &[2.0, 0.0, 0.0, -1.5]);
    let v = || values(&[6], &[3.0, 0.0, 4.0, 5.0, 0.0, 0.5]);
    gradients([x(), ints(&[6], &[0, 0, 1, 2, 2, 3]), v()], |[x, at, v]| {
        one(x.scatter(0, at, v, ScatterMode::Mul))
    });
    gradients([x(), ints(&[6], &[0, 0, 1, 2, 2, 3]), v()], |[x, at, v]| {
        one(x.select_assign(0, at, v, ScatterMode::Mul))
    });
}

#[test]
fn one_slice_of_an_axis() {
    gradients([normal(&[2, 3, 2])], |[x]| one(x.select_dim(1, 2)));
    for device in devices() {
        let x = tensor(&[1, 2, 3, 4], &[2, 2], &device);
        same(x.clone().select_dim(1, 1).unwrap(), &[2.0, 4.0]);
        let text = refused("select_dim", x.clone().select_dim(1, 2));
        assert!(
            text.contains("index 2 is out of range for axis 1 of size 2"),
            "{text}"
        );
        refused("select_dim", x.clone().select_dim(2, 0));
        refused("select_dim", x.select_dim(0, usize::MAX));
    }
    let x = || Tensor::<Flex, 2, i32>::from_ints([[1, 2], [3, 4]], &Default::default());
    assert_eq!(x().select_dim::<1>(-1, -2).into_vec().unwrap(), [1, 3]);
    for index in [-3, 2] {
        let outside = std::panic::catch_unwind(|| x().select_dim::<1>(0, index)).unwrap_err();
        let text = outside.downcast::<String>().unwrap();
        assert!(text.contains(&format!("index {index} is out of range")), "{text}");
    }
}

#[test]
fn one_hot_with_values() {
    for device in devices() {
        let hot = |x: DynTensor, axis| x.one_hot_fill(3, 5, -1, axis);
        let x = tensor(&[0, -1, 3, -4], &[4], &device);
        let rows = [[5, -1, -1], [-1, -1, 5], [-1, -1, -1], [-1, -1, -1]].map(|row| row.map(f64::from));
        same(hot(x.clone(), 1).unwrap(), rows.as_flattened());
        same(hot(x, 0).unwrap().t().unwrap(), rows.as_flattened());
        let x = tensor(&[0.9, -1.2, NAN, INF, -INF, 3.0, 1e300], &[7], &device);
        let off = [-1.0; 3];
        let rows = [[5.0, -1.0, -1.0], [-1.0, -1.0, 5.0], off, off, off, off, off];
        same(hot(x, 1).unwrap(), rows.as_flattened());
        // Neither wraps into a class nor rounds into one.
        if device.dtypes().contains(&DType::U64) {
            let x = tensor(&[u64::MAX, 1 << 63, 1, 1 << 32], &[4], &device);
            same(
                x.one_hot_fill(2, 1, 0, 1).unwrap(),
                &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            );
        }
        let x = tensor(&[keyway::bf16::from_f32(256.0)], &[1], &device);
        assert_eq!(
            x.one_hot_fill(300, 1, 0, 1)
                .unwrap()
                .sum()
                .unwrap()
                .into_vec_as::<f64>()
                .unwrap(),
            [1.0]
        );
        let x = tensor(&[1u8], &[1], &device);
        let text = refused("one_hot_fill", x.clone().one_hot_fill(3, 0.5, 0, 0));
        assert!(text.contains("0.5") && text.contains("u8"), "{text}");
        refused("one_hot_fill", x.clone().one_hot_fill(3, 1, -1, 0));
        refused("one_hot_fill", x.clone().one_hot_fill(3, 1, 0, 2));
        refused("one_hot_fill", x.clone().one_hot_fill(usize::MAX, 1, 0, 0));
        refused(
            "one_hot_fill",
            x.clone().bool().unwrap().one_hot_fill(3, true, false, 0),
        );
        assert_eq!(x.one_hot_fill(0, 1, 0, 1).unwrap().shape()[..], [1, 0]);
    }
}

#[test]
fn masks_of_triangles() {
    for device in devices() {
        let (t, f) = (1.0, 0.0);
        same(
            DynTensor::triu_mask([2, 3], 1, &device).unwrap(),
            &[t, f, f, t, t, f],
        );
        same(
            DynTensor::triu_mask([3, 2], -1, &device).unwrap(),
            &[f, f, f, f, t, f],
        );
        same(
            DynTensor::tril_mask([2, 3], 0, &device).unwrap(),
            &[f, t, t, f, f, t],
        );
        same(DynTensor::tril_mask([2, 3], i64::MAX, &device).unwrap(), &[f; 6]);
        same(DynTensor::tril_mask([2, 3], i64::MIN, &device).unwrap(), &[t; 6]);
        same(
            DynTensor::diag_mask([2, 3], 1, &device).unwrap(),
            &[t, f, t, t, t, f],
        );
        let batch = DynTensor::diag_mask([2, 2, 2], 0, &device).unwrap();
        assert_eq!((batch.dtype(), &batch.shape()[..]), (DType::Bool, &[2, 2, 2][..]));
        same(batch, &[f, t, t, f, f, t, t, f]);
        same(DynTensor::triu_mask([0, 3], 0, &device).unwrap(), &[]);
        assert_eq!(
            DynTensor::triu_mask([0, 1 << 40], 0, &device).unwrap().shape()[..],
            [0, 1 << 40]
        );
        refused("tril_mask", DynTensor::tril_mask([3], 0, &device));
        refused("diag_mask", DynTensor::diag_mask([usize::MAX, 2], 0, &device));
    }
}

#[test]
fn samples_of_weights() {
    for device in devices() {
        device.seed(5);
        let x = tensor(&[1.0f32, 0.0, 3.0, 0.0, 0.0, 0.0, 0.2, 0.0], &[2, 4], &device);
        let drawn = x.categorical(4000).unwrap();
        assert_eq!((drawn.dtype(), &drawn.shape()[..]), (DType::I32, &[2, 4000][..]));
        let drawn = drawn.into_vec::<i32>().unwrap();
        let (first, second) = drawn.split_at(4000);
        let share = |class| first.iter().filter(|&&c| c == class).count() as f64 / 4000.0;
        assert!((share(0) - 0.25).abs() < 0.04, "{}", share(0));
        assert_eq!(share(0) + share(2), 1.0);
        assert!(second.iter().all(|&class| class == 2));
        // Weights that vanish beside one, in a half type too; and what has no weight gives some index.
        let x = tensor(&[keyway::f16::from_f32(6e4); 3], &[3], &device)
            .categorical(300)
            .unwrap();
        let drawn = x.into_vec::<i32>().unwrap();
        assert!((0..3).all(|class| drawn.contains(&class)));
        for weight in [0.0, NAN, INF, -1.0] {
            let drawn = tensor(&[weight; 2], &[2], &device).categorical(50).unwrap();
            assert!(
                drawn
                    .into_vec::<i32>()
                    .unwrap()
                    .iter()
                    .all(|class| (0..2).contains(class))
            );
        }
        let x = |shape: &[usize]| DynTensor::ones(shape, DType::F64, &device).unwrap();
        assert_eq!(x(&[0, 3]).categorical(2).unwrap().shape()[..], [0, 2]);
        refused("categorical", x(&[2, 3]).categorical(0));
        refused("categorical", x(&[2, 0]).categorical(1));
        refused("categorical", x(&[]).categorical(1));
        refused("categorical", x(&[3]).int().unwrap().categorical(1));
    }
}

#[test]
fn in_place() {
    for device in devices() {
        let mut x = tensor(&[1.0, 2.0], &[2, 1], &device);
        x.inplace(|x| x.mul(3.0)).unwrap();
        same(x.clone(), &[3.0, 6.0]);
        let taken = x.extract().unwrap();
        assert_eq!((&x.shape()[..], &taken.shape()[..]), (&[0, 0][..], &[2, 1][..]));
        x = taken;
        assert!(x.inplace(|x| x.reshape([7])).is_err());
        assert_eq!(x.shape()[..], [0, 0]);
    }
}

#[test]
fn gradients_put_in_place() {
    for device in devices() {
        let x = tensor(&[3.0, -4.0], &[2], &device).require_grad().unwrap();
        let y = x.clone().square().unwrap();
        assert!(x.is_require_grad() && x.is_tracked() && y.is_tracked() && !y.is_require_grad());
        let mut grads = y.clone().backward().unwrap();
        let new = tensor(&[1.0, 2.0], &[2], &device);
        x.grad_replace(&mut grads, new.clone()).unwrap();
        same(x.grad(&grads).unwrap().unwrap(), &[1.0, 2.0]);
        x.grad_remove(&mut grads).unwrap();
        x.grad_replace(&mut grads, new.clone()).unwrap();
        same(x.grad(&grads).unwrap().unwrap(), &[1.0, 2.0]);
        refused(
            "grad_replace",
            x.grad_replace(&mut grads, tensor(&[1.0], &[1], &device)),
        );
        refused(
            "grad_replace",
            x.grad_replace(&mut grads, tensor(&[1f32, 2.0], &[2], &device)),
        );
        refused("grad_replace", x.grad_replace(&mut grads, y.clone()));
        refused("grad_replace", x.grad_replace(&mut grads, x.clone()));
        refused("grad_replace", y.grad_replace(&mut grads, new.clone()));
        refused("grad_replace", new.clone().grad_replace(&mut grads, new.clone()));
        assert!(y.clone().set_require_grad(true).is_err());
        assert!(
            y.set_require_grad(false)
                .unwrap()
                .set_require_grad(true)
                .unwrap()
                .is_require_grad()
        );
    }
    // A parameter stays one.
    let device = Mesh::<Flex>::open(1).unwrap().remove(0);
    let x = Tensor::<Autodiff<Mesh<Flex>>, 1>::ones([2], &device).set_distributed_params("x");
    let mut grads = (x.clone() * 2.0).backward();
    x.grad_replace(&mut grads, Tensor::full([2], 7.0, &device));
    let synced = grads.sync().unwrap();
    assert_eq!(x.grad(&synced).unwrap().into_vec().unwrap(), [7.0, 7.0]);
    assert_eq!(synced.len(), 1);
}

#[test]
fn several_read_at_once() {
    use keyway::Transaction;
    let device = Default::default();
    let x = Tensor::<Autodiff<Flex>, 2>::from_array([[1.0, 2.0]], &device).require_grad();
    let data = Transaction::default()
        .register(x.clone() * 2.0)
        .register(x.clone().lower(1.5))
        .register_raw(x.into_raw())
        .execute()
        .unwrap();
    let shapes: Vec<_> = data
        .iter()
        .map(|data| (data.dtype(), data.shape().to_vec()))
        .collect();
    assert_eq!(
        shapes,
        [
            (DType::F32, vec![1, 2]),
            (DType::Bool, vec![1, 2]),
            (DType::F32, vec![1, 2])
        ]
    );
    assert_eq!(data[0].as_slice::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!(data[1].as_slice::<bool>().unwrap(), [true, false]);
    assert!(Transaction::<Flex>::default().execute().unwrap().is_empty());
}

#[test]
fn chosen_by_a_mask() {
    let mask = || bools(&[2, 2], &[true, false, false, true]);
    gradients([normal(&[2, 2]), mask()], |[x, mask]| one(x.mask_select(mask)));
}

/// A function of one tensor, by its name.
type Function = fn(DynTensor) -> Outputs;

#[test]
fn reductions_order_and_movement() {
    let functions: &[(&str, Function)] = &[
        ("sum", |x| one(x.sum())),
        ("sum_dims", |x| one(x.sum_dims(&[0, 2]))),
        ("mean", |x| one(x.mean())),
        ("mean_dims", |x| one(x.mean_dims(&[1, 2]))),
        ("prod", |x| one(x.prod())),
        ("prod_dim", |x| one(x.prod_dim(1))),
        ("max", |x| one(x.max())),
        ("max_dims", |x| one(x.max_dims(&[0, 1]))),
        ("min_dims", |x| one(x.min_dims(&[1, 2]))),
        ("max_dim_with_indices", |x| two(x.max_dim_with_indices(2))),
        ("min_dim_with_indices", |x| two(x.min_dim_with_indices(0))),
        ("max_abs", |x| one(x.max_abs())),
        ("max_abs_dim", |x| one(x.max_abs_dim(1))),
        ("var_bias", |x| one(x.var_bias(1))),
        ("var_mean", |x| two(x.var_mean(2))),
        ("std", |x| one(x.std(2))),
        ("median", |x| one(x.median(2))),
        ("cov", |x| one(x.cov(2, 1))),
        ("cumsum", |x| one(x.cumsum(1))),
        ("cumprod", |x| one(x.cumprod(2))),
        ("cummax", |x| one(x.cummax(2))),
        ("cummin", |x| one(x.cummin(1))),
        ("sort", |x| one(x.sort(2))),
        ("sort_descending_with_indices", |x| {
            two(x.sort_descending_with_indices(1))
        }),
        ("topk", |x| one(x.topk(2, 2))),
        ("topk_with_indices", |x| two(x.topk_with_indices(2, 1))),
        ("flatten", |x| one(x.flatten(1, 2))),
        ("roll", |x| one(x.roll(&[1, -1], &[0, 2]))),
        ("repeat", |x| one(x.repeat(&[2, 1, 2]))),
        ("repeat_dim", |x| one(x.repeat_dim(1, 2))),
        ("movedim", |x| one(x.movedim([0, 1], [1, 2]))),
        ("chunk", |x| x.chunk(2, 2)),
        ("split_with_sizes", |x| x.split_with_sizes(&[1, 3], 2)),
        ("narrow", |x| one(x.narrow(2, 1, 2))),
        ("triu", |x| one(x.triu(1))),
        ("tril", |x| one(x.tril(-1))),
        ("slice_fill", |x| one(x.slice_fill(s![.., 1..2], 3.0))),
        ("clamp", |x| one(x.clamp(-0.7, 0.9))),
        ("square", |x| one(x.square())),
        ("powi", |x| one(x.powi(3))),
        ("fmod", |x| one(x.fmod(0.7))),
        ("log2", |x| one(x.square()?.add(0.1)?.log2())),
        ("log10", |x| one(x.square()?.add(0.1)?.log10())),
    ];
    for (name, f) in functions {
        println!("{name}");
        gradients([normal(&[2, 3, 4])], |[x]| f(x));
    }
    gradients([normal(&[3, 4]), ints(&[2], &[2, 0])], |[x, i]| one(x.take(1, i)));
    gradients([normal(&[2, 3]), normal(&[2, 3])], |[x, y]| {
        one(DynTensor::stack(vec![x, y], 1))
    });
    gradients([normal(&[3, 4]), normal(&[3, 2])], |[x, y]| {
        one(x.slice_assign(s![.., 1..3], y))
    });
    gradients([normal(&[4]), normal(&[4])], |[x, y]| one(x.dot(y)));
}
