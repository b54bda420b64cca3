//! Typed tensors: composites against values computed by hand, operators, text, panics and their place.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, Location};
use std::sync::Once;

use keyway::loss::{Mean, Sum, Unreduced};
use keyway::module::{
    AttentionModuleOptions, AvgPoolOptions, ConvOptions, ConvTransposeOptions, MaxPoolOptions,
};
use keyway::prelude::*;
use keyway::{FlexDevice, Nested, bf16, f16};

fn device() -> FlexDevice {
    FlexDevice::default()
}

fn t<const D: usize>(array: impl Nested<D, f32>) -> Tensor<Flex, D> {
    Tensor::from_array(array, &device())
}

fn ints<const D: usize>(array: impl Nested<D, i32>) -> Tensor<Flex, D, i32> {
    Tensor::from_array(array, &device())
}

fn bools<const D: usize>(array: impl Nested<D, bool>) -> Tensor<Flex, D, bool> {
    Tensor::from_array(array, &device())
}

/// Compares with nested arrays, shape and all; NaN equals NaN.
#[track_caller]
fn close<const D: usize, A: Nested<D, f32>>(x: Tensor<Flex, D>, expected: A) {
    assert_eq!(x.dims(), A::DIMS);
    let (got, expected) = (x.into_vec().unwrap(), expected.into_elements());
    let near = |(&a, &b): (&f32, &f32)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-6 * (1.0 + b.abs())
    };
    assert!(
        got.iter().zip(&expected).all(near),
        "{got:?}\nis not\n{expected:?}"
    );
}

#[track_caller]
fn same<const D: usize, E: Element, A: Nested<D, E>>(x: Tensor<Flex, D, E>, expected: A) {
    assert_eq!(x.dims(), A::DIMS);
    assert_eq!(x.into_vec().unwrap(), expected.into_elements());
}

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

mod create {
    use super::*;

    #[test]
    fn constants() {
        same(Tensor::zeros([2, 1], &device()), [[0.0f32], [0.0]]);
        same(Tensor::ones([2], &device()), [true, true]);
        same(Tensor::full([2], 7u8, &device()), [7u8, 7]);
        same(ints([[1, 2]]).zeros_like(), [[0, 0]]);
        same(t([1.5]).ones_like(), [1.0f32]);
        same(t([1.5, 2.0]).full_like(3.0), [3.0f32, 3.0]);
        same(Tensor::eye(2, &device()), [[1.0f32, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn sequences() {
        same(Tensor::arange(-1..2, &device()), [-1, 0, 1]);
        same(Tensor::arange_step(0..7, 3, &device()), [0.0f32, 3.0, 6.0]);
        same(Tensor::<Flex, 1, i32>::arange(5..5, &device()), [0i32; 0]);
        close(
            Tensor::linspace(0.0, 1.0, 5, &device()),
            [0.0, 0.25, 0.5, 0.75, 1.0],
        );
        close(Tensor::linspace(3.0, 4.0, 1, &device()), [3.0]);
    }

    #[test]
    fn sequences_reach_their_ends() {
        let long = |step| Tensor::<Flex, 1, i64>::arange_step(i64::MIN..i64::MAX, step, &device());
        same(long(1 << 62), [i64::MIN, -(1 << 62), 0, 1 << 62]);
        same(long(1 << 63), [i64::MIN, 0]);
        for len in 2..100 {
            let ends = Tensor::<Flex, 1, f64>::linspace(-3.0, 7.3, len, &device())
                .into_vec()
                .unwrap();
            assert_eq!((ends[0], ends[len - 1]), (-3.0, 7.3), "{len}");
        }
    }

    #[test]
    fn data_goes_in_and_comes_out() {
        let x = Tensor::<Flex, 3, i16>::from_array([[[1, 2]], [[3, 4]]], &device());
        assert_eq!(x.dims(), [2, 1, 2]);
        let data = x.to_data().unwrap();
        let y = Tensor::<Flex, 3, i16>::try_from_data(data.clone(), &device()).unwrap();
        assert_eq!(y.into_data().unwrap(), data);
        assert!(Tensor::<Flex, 2, i16>::try_from_data(data.clone(), &device()).is_err());
        assert!(Tensor::<Flex, 3, i32>::try_from_data(data, &device()).is_err());
        assert!(Tensor::<Flex, 2>::try_from_vec(vec![1.0; 5], [2, 3], &device()).is_err());
        let moved: Tensor<Flex, 3, i16> = x.to_backend(&device()).unwrap();
        assert_eq!(moved.into_vec().unwrap(), [1, 2, 3, 4]);
        let six = Tensor::<Flex, 6>::from_array([[[[[[1.0, 2.0]]]]]], &device());
        assert_eq!(six.dims(), [1, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn a_scalar_is_exactly_one_element() {
        assert_eq!(t([[2.5]]).into_scalar(), Ok(2.5));
        assert!(t([1.0, 2.0]).into_scalar().is_err());
        assert!(t([0f32; 0]).into_scalar().is_err());
    }

    #[test]
    fn one_hot() {
        same(ints([[0, 2]]).one_hot::<3>(3), [[[1, 0, 0], [0, 0, 1]]]);
        let wrong = panic_of(|| drop(ints([3]).one_hot::<2>(3)));
        assert!(wrong.text.contains("index 3 is out of range"), "{}", wrong.text);
    }

    #[test]
    fn random() {
        let device = device();
        let draw = |distribution| Tensor::<Flex, 1>::random([10_000], distribution, &device);
        let moments = |x: Tensor<Flex, 1>| {
            let mean = x.clone().mean().into_scalar().unwrap();
            (mean, x.std(0).into_scalar().unwrap())
        };
        device.seed(3);
        let first = draw(Distribution::Default);
        let (mean, std) = moments(first.clone());
        assert!((mean - 0.5).abs() < 0.02 && (std - 12f32.sqrt().recip()).abs() < 0.02);
        let (mean, std) = moments(draw(Distribution::Normal(2.0, 0.5)));
        assert!((mean - 2.0).abs() < 0.03 && (std - 0.5).abs() < 0.03);
        let (mean, _) = moments(draw(Distribution::Bernoulli(0.25)));
        assert!((mean - 0.25).abs() < 0.03);
        device.seed(3);
        assert_eq!(first.clone().into_vec(), draw(Distribution::Default).into_vec());
        assert_ne!(first.into_vec(), draw(Distribution::Default).into_vec());
        let far = || {
            drop(Tensor::<Flex, 1>::random(
                [1],
                Distribution::Uniform(-3e38, 3e38),
                &device,
            ))
        };
        assert_eq!(
            panic_of(far).text,
            "uniform: -3e38..3e38 reaches farther than f32 does"
        );
        let dice = Tensor::<Flex, 1, u8>::random([1000], Distribution::Uniform(1.0, 7.0), &device)
            .into_vec()
            .unwrap();
        assert_eq!((dice.iter().min(), dice.iter().max()), (Some(&1), Some(&6)));
    }
}

mod operators {
    use super::*;

    #[test]
    fn tensors_references_and_numbers() {
        let x = t([[1.0, 2.0], [3.0, 4.0]]);
        let row = t([[10.0, 20.0]]);
        close(&x + &row, [[11.0, 22.0], [13.0, 24.0]]);
        close(x.clone() - &row, [[-9.0, -18.0], [-7.0, -16.0]]);
        close(&x * 2 / 4.0, [[0.5, 1.0], [1.5, 2.0]]);
        close(2.0 * &x - 1, [[1.0, 3.0], [5.0, 7.0]]);
        close(12.0 / x.clone(), [[12.0, 6.0], [4.0, 3.0]]);
        close(1.0 - &x, [[0.0, -1.0], [-2.0, -3.0]]);
        close(-&x % 3.0, [[2.0, 1.0], [0.0, 2.0]]);
        close(7.0 % x, [[0.0, 1.0], [1.0, 3.0]]);
        same(10 - ints([1, 2]) * 3, [7, 4]);
        same(
            Tensor::<Flex, 1, f16>::ones([1], &device()) * f16::from_f32(2.0),
            [f16::from_f32(2.0)],
        );
        same(
            bf16::ONE + Tensor::<Flex, 1, bf16>::ones([1], &device()),
            [bf16::from_f32(2.0)],
        );
    }

    #[test]
    fn bits_and_truth() {
        same(ints([6, 5]) & ints([3, 3]), [2, 1]);
        same(ints([6, 5]) | 1, [7, 5]);
        same(ints([6, 5]) ^ 3, [5, 6]);
        same(!ints([0, -1]), [-1, 0]);
        same(ints([1, -8]) << 2 >> 1, [2, -16]);
        same(!bools([true, false]), [false, true]);
        same(bools([true, false]) ^ true, [false, true]);
        same(bools([true, false]) | bools([false, false]), [true, false]);
    }

    #[test]
    fn logic_broadcasts() {
        let x = bools([[true, false, true], [false, true, true]]);
        let y = bools([[true, true, false]]);
        same(
            x.clone() & y.clone(),
            [[true, false, false], [false, true, false]],
        );
        same(x.bool_or(y), [[true, true, true], [true, true, true]]);
    }

    #[test]
    fn remainder_follows_the_divisor() {
        same(
            ints([-3, -2, -1, 1, 2, 3]).remainder(ints([2, 3, 1, 2, 1, 3])),
            [1, 1, 0, 1, 0, 0],
        );
        same(
            Tensor::<Flex, 1, i32>::arange(1..11, &device()).remainder_scalar(3),
            [1, 2, 0, 1, 2, 0, 1, 2, 0, 1],
        );
        same(
            Tensor::<Flex, 1, u32>::arange(1..11, &device()) % 3,
            [1u32, 2, 0, 1, 2, 0, 1, 2, 0, 1],
        );
        close(t([2.0]) % -1.5, [-1.0]);
        close(t([-5.0, 5.0]).fmod(3.0), [-2.0, 2.0]);
        close(t([-5.0, 5.0]).fmod(t([-3.0, -3.0])), [-2.0, 2.0]);
    }

    #[test]
    fn shifts() {
        let x = ints([[1, 2, 3, 4], [5, 6, 7, 8]]) << ints([[0, 1, 2, 3], [3, 2, 1, 0]]);
        same(x, [[1, 4, 12, 32], [40, 24, 14, 8]]);
    }

    #[test]
    fn empty_broadcasts() {
        let (none, one) = (t([0f32; 0]), t([1.0]));
        assert_eq!((&none + &one).dims(), [0]);
        assert_eq!((one + none).dims(), [0]);
    }
}

mod elementwise {
    use super::*;

    #[test]
    fn functions() {
        let x = t([0.25, 1.0, 4.0]);
        close(x.clone().square(), [0.0625, 1.0, 16.0]);
        close(x.clone().log2(), [-2.0, 0.0, 2.0]);
        close(t([0.1, 100.0]).log10(), [-1.0, 2.0]);
        close(x.clone().powf_scalar(1.5), [0.125, 1.0, 8.0]);
        close(x.clone().powi_scalar(-1), [4.0, 1.0, 0.25]);
        close(x.clone().powf(t([2.0, 5.0, 0.5])), [0.0625, 1.0, 2.0]);
        same(ints([2, -3]).powi(ints([10, 3])), [1024, -27]);
        close(x.recip(), [4.0, 1.0, 0.25]);
        close(t([0.5, 1.5, -2.5]).round(), [0.0, 2.0, -2.0]);
    }

    #[test]
    fn clamps_keep_nan() {
        let x = t([-2.0, NAN, 0.5, 3.0]);
        close(x.clone().clamp(-1.0, 1), [-1.0, NAN, 0.5, 1.0]);
        close(x.clone().clamp_min(0.0), [0.0, NAN, 0.5, 3.0]);
        close(x.clone().clamp_max(0.0), [-2.0, NAN, 0.0, 0.0]);
        close(x.max_pair(t([0.0, 0.0, NAN, 4.0])), [0.0, NAN, NAN, 4.0]);
        same(ints([-5, 5]).clamp(-1, 2), [-1, 2]);
    }

    #[test]
    fn classes_of_floats() {
        let x = t([1.0, NAN, -INF]);
        same(x.clone().is_nan(), [false, true, false]);
        same(x.clone().is_inf(), [false, false, true]);
        same(x.clone().is_finite(), [true, false, false]);
        same(x.contains_nan(), [true]);
    }

    #[test]
    fn comparisons() {
        let x = t([1.0, 2.0, NAN]);
        same(x.clone().equal(t([1.0, 1.0, NAN])), [true, false, false]);
        same(x.clone().not_equal_elem(1), [false, true, true]);
        same(x.clone().greater(1.5), [false, true, false]);
        same(x.lower_equal_elem(1.0), [true, false, false]);
        same(bools([true, false]).equal(bools([true, true])), [true, false]);
    }

    #[test]
    fn closeness() {
        let (x, y) = (t([1.0, INF, NAN, INF, 0.0]), t([1.000001, INF, NAN, 1.0, 1e-9]));
        same(
            x.clone().is_close(y.clone(), None, None),
            [true, true, false, false, true],
        );
        assert_eq!(x.clone().all_close(y, None, None), Ok(false));
        assert_eq!(x.clone().all_close(x, None, None), Ok(false));
        let x = t([1.0, INF, 0.0]);
        assert_eq!(x.clone().all_close(x, None, None), Ok(true));
        same(t([1.0]).is_close(t([-INF]), None, None), [false]);
    }

    #[test]
    fn truth_is_read_back_as_truth() {
        same(t([1.0, 0.0]).bool(), [true, false]);
        let counted = ints([[1, 0, 3], [0, 0, 900]]).greater(0).int();
        same(counted, [[1, 0, 1], [0, 0, 1]]);
        same(t([-1.5, 300.0, NAN]).cast::<u8>(), [0u8, 255, 0]);
    }

    #[test]
    fn masks() {
        let mask = bools([[true], [false]]);
        same(
            ints([[1, 2], [3, 4]]).mask_fill(mask.clone(), 0),
            [[0, 0], [3, 4]],
        );
        same(
            ints([[1, 2], [3, 4]]).mask_where(mask, ints([[9, 8]])),
            [[9, 8], [3, 4]],
        );
    }
}

mod reductions {
    use super::*;

    #[test]
    fn of_everything_and_along_axes() {
        let x = t([[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]);
        close(x.clone().sum(), [24.0]);
        close(x.clone().mean(), [4.0]);
        close(x.clone().prod_dim(1), [[6.0], [180.0]]);
        close(x.clone().sum_dim(0), [[5.0, 7.0, 12.0]]);
        close(x.clone().mean_dim(-1), [[2.0], [6.0]]);
        close(x.clone().max(), [9.0]);
        close(x.clone().min_dim(0), [[1.0, 2.0, 3.0]]);
        close((-x).max_abs(), [9.0]);
        let cube = Tensor::<Flex, 3>::ones([2, 3, 4], &device());
        close(cube.clone().sum_dims(&[0, 2]), [[[8.0], [8.0], [8.0]]]);
        close(cube.max_dims(&[-1, 0]), [[[1.0], [1.0], [1.0]]]);
    }

    /// The first of several.
    #[test]
    fn places() {
        same(t([[3.0, 1.0, 2.0]]).argmax(1), [[0i32]]);
        same(t([[2.0, 7.0, 7.0], [0.0, NAN, NAN]]).argmax(1), [[1], [1]]);
        let (values, places) = t([[2.0, 7.0], [3.0, 1.0]]).min_dim_with_indices(0);
        close(values, [[2.0, 1.0]]);
        same(places, [[0, 1]]);
    }

    #[test]
    fn truth() {
        same(ints([[0, 2], [0, 0]]).any_dim(1), [[true], [false]]);
        same(ints([[1, 2], [0, 1]]).all_dim(0), [[false, true]]);
        same(t([0f32; 0]).any(), [false]);
        same(t([0f32; 0]).all(), [true]);
    }

    #[test]
    fn statistics() {
        let x = t([[1.0, 2.0, 3.0, 6.0]]);
        close(x.clone().var(1), [[14.0 / 3.0]]);
        close(x.clone().var_bias(1), [[3.5]]);
        let (var, mean) = x.clone().var_mean(1);
        close(var, [[14.0 / 3.0]]);
        close(mean, [[3.0]]);
        close(x.clone().std(1), [[(14f32 / 3.0).sqrt()]]);
        close(x.clone().median(1), [[2.0]]);
        close(t([[3.0, NAN, 1.0]]).median(1), [[NAN]]);
        close(t([[1.0]]).var(1), [[NAN]]);
        let observations = t([[1.0, 2.0], [2.0, 4.0], [3.0, 9.0]]);
        // Centred: (-1, -3), (0, -1), (1, 4).
        close(observations.clone().cov(0, 1), [[1.0, 3.5], [3.5, 13.0]]);
        close(
            observations.transpose().cov(1, 0),
            [[2.0 / 3.0, 7.0 / 3.0], [7.0 / 3.0, 26.0 / 3.0]],
        );
    }

    /// Squares of half types overflow where their root does not.
    #[test]
    fn statistics_of_half_types() {
        let h = |values: &[f32]| {
            let values: Vec<f16> = values.iter().copied().map(f16::from_f32).collect();
            let len = values.len();
            Tensor::<Flex, 1, f16>::from_vec(values, [len], &device())
        };
        let long = h(&[100.0; 1000]);
        close(linalg::l2_norm(long.clone(), 0).float(), [3162.0]);
        close(
            linalg::cosine_similarity(long.clone(), long, 0, None).float(),
            [1.0],
        );
        close(h(&[300.0, -300.0]).std(0).float(), [424.25]);
        let mut outlier = [0.0; 1000];
        outlier[0] = 300.0;
        close(h(&outlier).var(0).float(), [90.0]);
        let columns = h(&[30.0; 2000]).reshape([1000, 2]);
        let signs = h(&[1.0, -1.0]).repeat(&[500]).reshape([1000, 1]);
        close((columns * signs).cov(0, 0).float(), [[900.0; 2]; 2]);
    }

    #[test]
    fn scans() {
        same(ints([[1, 2, 3]]).cumsum(1), [[1, 3, 6]]);
        same(ints([1, 2, 3]).cumprod(0), [1, 2, 6]);
        close(t([1.0, NAN, 5.0]).cummax(0), [1.0, NAN, NAN]);
        close(t([3.0, 4.0, 2.0]).cummin(-1), [3.0, 3.0, 2.0]);
    }

    #[test]
    fn norms() {
        use keyway::linalg::*;
        let x = t([[3.0, -4.0, 0.0]]);
        close(l1_norm(x.clone(), 1), [[7.0]]);
        close(l2_norm(x.clone(), 1), [[5.0]]);
        close(lp_norm(x.clone(), 3.0, 1), [[91f32.cbrt()]]);
        close(max_abs_norm(x.clone(), 1), [[4.0]]);
        close(min_abs_norm(x.clone(), 1), [[0.0]]);
        close(vector_norm(x.clone(), Norm::L0, 1), [[2.0]]);
        close(
            cosine_similarity(x.clone(), t([[4.0, 3.0, 0.0]]), 1, None),
            [[0.0]],
        );
        close(cosine_similarity(x.clone(), x * -2.0, 1, None), [[-1.0]]);
        close(cosine_similarity(t([[0.0]]), t([[1.0]]), 1, None), [[0.0]]);
        close(outer(t([1.0, 2.0]), t([3.0, 4.0])), [[3.0, 4.0], [6.0, 8.0]]);
        close(trace(t([[1.0, 2.0], [3.0, 4.0]])), [5.0]);
        close(t([1.0, 2.0]).dot(t([3.0, 4.0])), [11.0]);
    }
}

mod movement {
    use super::*;

    fn count<const D: usize>(shape: [usize; D]) -> Tensor<Flex, D, i32> {
        let len: usize = shape.iter().product();
        Tensor::arange(0..len as i64, &device()).reshape(shape)
    }

    #[test]
    fn shapes() {
        let x = count([2, 3, 4]);
        assert_eq!(x.clone().reshape([6, 4]).dims(), [6, 4]);
        assert_eq!(x.clone().reshape([2, -1]).dims(), [2, 12]);
        assert_eq!(count([2, 0]).reshape([0, 5]).dims(), [0, 5]);
        assert_eq!(x.clone().flatten::<2>(1, 2).dims(), [2, 12]);
        assert_eq!(x.clone().flatten::<1>(0, -1).dims(), [24]);
        assert_eq!(x.clone().unsqueeze::<5>().dims(), [1, 1, 2, 3, 4]);
        assert_eq!(x.clone().unsqueeze_dim::<4>(-1).dims(), [2, 3, 4, 1]);
        assert_eq!(x.clone().unsqueeze_dims::<5>(&[0, 3]).dims(), [1, 2, 3, 1, 4]);
        let y = count([1, 3, 1]);
        assert_eq!(y.clone().squeeze::<1>().dims(), [3]);
        assert_eq!(y.clone().squeeze_dim::<2>(0).dims(), [3, 1]);
        assert_eq!(y.clone().squeeze_dims::<1>(&[0, -1]).dims(), [3]);
        assert_eq!(y.clone().expand([4, 3, 2]).dims(), [4, 3, 2]);
        assert_eq!(y.expand([2, 5, -1, 2]).dims(), [2, 5, 3, 2]);
    }

    #[test]
    fn order() {
        let x = count([2, 3]);
        same(x.clone().transpose(), [[0, 3], [1, 4], [2, 5]]);
        same(x.clone().t(), [[0, 3], [1, 4], [2, 5]]);
        same(x.clone().flip([1]), [[2, 1, 0], [5, 4, 3]]);
        same(x.clone().roll(&[1], &[1]), [[2, 0, 1], [5, 3, 4]]);
        same(x.clone().roll(&[-1, 1], &[1, 0]), [[4, 5, 3], [1, 2, 0]]);
        same(x.clone().roll_dim(-4, 1), [[1, 2, 0], [4, 5, 3]]);
        same(x.roll_dim(isize::MIN, 1), [[2, 0, 1], [5, 3, 4]]);
        let y = count([2, 3, 4]);
        assert_eq!(y.clone().permute([2, 0, 1]).dims(), [4, 2, 3]);
        assert_eq!(y.clone().swap_dims(0, -1).dims(), [4, 3, 2]);
        assert_eq!(y.clone().movedim([0], [2]).dims(), [3, 4, 2]);
        assert_eq!(y.movedim([0, 1], [1, 2]).dims(), [4, 2, 3]);
    }

    #[test]
    fn parts() {
        let x = count([5]);
        let lists = |parts: Vec<Tensor<Flex, 1, i32>>| -> Vec<Vec<i32>> {
            parts.into_iter().map(|part| part.into_vec().unwrap()).collect()
        };
        assert_eq!(lists(x.clone().split(2, 0)), [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(lists(x.clone().chunk(2, 0)), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(
            lists(x.clone().split_with_sizes(&[1, 0, 4], 0)),
            [vec![0], vec![], vec![1, 2, 3, 4]]
        );
        assert_eq!(x.clone().iter_dim(0).count(), 5);
        same(x.narrow(0, 1, 3), [1, 2, 3]);
    }

    #[test]
    fn slices() {
        let x = count([3, 4]);
        same(x.clone().slice([0..2, 1..3]), [[1, 2], [5, 6]]);
        same(x.clone().slice(1..2), [[4, 5, 6, 7]]);
        same(x.clone().slice((-1, ..2)), [[8, 9]]);
        same(x.clone().slice(2..), [[8, 9, 10, 11]]);
        same(x.clone().slice(s![.., 0..=2;2]), [[0, 2], [4, 6], [8, 10]]);
        same(x.clone().slice(s![0, ..;-1]), [[3, 2, 1, 0]]);
        same(x.clone().slice(s![-2..=-1, -1]), [[7], [11]]);
        same(x.clone().slice_dim(1, 3..), [[3], [7], [11]]);
        assert_eq!(x.clone().slice([1..1, 0..4]).dims(), [0, 4]);
        same(
            x.clone().slice_fill(s![..2, 1..], 9),
            [[0, 9, 9, 9], [4, 9, 9, 9], [8, 9, 10, 11]],
        );
        same(
            x.slice_assign((2.., ..), ints([[1, 2, 3, 4]])),
            [[0, 1, 2, 3], [4, 5, 6, 7], [1, 2, 3, 4]],
        );
    }

    /// What no `isize` holds is past the end, and does not count from it.
    #[test]
    fn bounds_past_the_reach_of_isize_are_outside() {
        let x = count([5]);
        at(|| x.clone().slice(0..usize::MAX));
        at(|| x.clone().slice([..=usize::MAX]));
        at(|| x.clone().slice([usize::MAX..]));
        at(|| x.clone().slice(s![usize::MAX]));
        at(|| x.clone().slice(s![i64::MIN]));
        same(x.clone().roll(&[isize::MIN], &[0]), [3, 4, 0, 1, 2]);
        same(x.roll(&[isize::MAX], &[0]), [3, 4, 0, 1, 2]);
    }

    #[test]
    fn joins_and_copies() {
        let x = count([1, 2]);
        same(Tensor::cat(vec![x.clone(), x.clone() + 5], 0), [[0, 1], [5, 6]]);
        same(
            Tensor::stack::<3>(vec![x.clone(), x.clone() + 5], -1),
            [[[0, 5], [1, 6]]],
        );
        same(x.clone().repeat(&[2, 2]), [[0, 1, 0, 1], [0, 1, 0, 1]]);
        same(x.clone().repeat_dim(1, 2), [[0, 1, 0, 1]]);
        same(x.clone().pad([(1, 0), (0, 2)], 7), [[7, 7, 7, 7], [0, 1, 7, 7]]);
        same(x.pad([(1, 1)], PadMode::Replicate), [[0, 0, 1, 1]]);
        let wide = Tensor::cat(vec![count([2, 3]), count([2, 0])], 1);
        assert_eq!(wide.dims(), [2, 3]);
    }

    #[test]
    fn triangles() {
        let x = count([3, 3]);
        same(x.clone().triu(0), [[0, 1, 2], [0, 4, 5], [0, 0, 8]]);
        same(x.clone().tril(-1), [[0, 0, 0], [3, 0, 0], [6, 7, 0]]);
        same(x.clone().triu(1 << 32), [[0; 3]; 3]);
        same(x.clone().tril(i64::MIN), [[0; 3]; 3]);
        same(
            x.clone().bool().triu(2),
            [[false, false, true], [false; 3], [false; 3]],
        );
        for far in [1 << 32, i64::MAX] {
            same(x.clone().triu(far), [[0; 3]; 3]);
            same(x.clone().tril(far), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
            same(x.clone().triu(-far), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
            same(x.clone().tril(-far), [[0; 3]; 3]);
        }
        same(linalg::diag::<_, 2, 1, _>(x), [0, 4, 8]);
        same(linalg::diag::<_, 3, 2, _>(count([2, 2, 3])), [[0, 4], [6, 10]]);
    }
}

mod index {
    use super::*;

    #[test]
    fn by_tensors() {
        let x = ints([[1, 2], [3, 4], [5, 6]]);
        let i64s = |rows: Vec<i64>| {
            let n = rows.len();
            Tensor::<Flex, 1, i64>::from_vec(rows, [n], &device())
        };
        same(x.clone().select(0, i64s(vec![2, 0, 2])), [[5, 6], [1, 2], [5, 6]]);
        same(x.clone().gather(1, ints([[1], [0], [1]])), [[2], [3], [6]]);
        same(
            x.clone().scatter(
                0,
                ints([[2, 0], [2, 1]]),
                ints([[10, 20], [30, 40]]),
                ScatterMode::Add,
            ),
            [[1, 22], [3, 44], [45, 6]],
        );
        same(
            x.clone()
                .select_assign(1, i64s(vec![0]), ints([[7], [8], [9]]), ScatterMode::Set),
            [[7, 2], [8, 4], [9, 6]],
        );
        assert_eq!(
            x.clone().take::<3, 4>(1, ints([[[0, 1, 1]]])).dims(),
            [3, 1, 1, 3]
        );
        same(x.take::<2, 3>(0, ints([[0, 2]])), [[[1, 2], [5, 6]]]);
    }

    #[test]
    fn of_what_is_not_zero() {
        let x = ints([[0, 2], [3, 0]]);
        same(x.clone().argwhere().unwrap(), [[0, 1], [1, 0]]);
        let places = x.clone().nonzero().unwrap();
        same(places[0].clone(), [0, 1]);
        same(places[1].clone(), [1, 0]);
        same(x.clone().mask_select(x.clone().greater(1)).unwrap(), [2, 3]);
        let none = bools([[false, false]]).nonzero().unwrap();
        assert_eq!((none.len(), none[0].dims(), none[1].dims()), (2, [0], [0]));
        assert_eq!(bools([[false]]).argwhere().unwrap().dims(), [0, 2]);
        assert!(x.mask_select(bools([[true, false]])).is_err());
    }

    #[test]
    fn order() {
        let x = t([[3.0, NAN, 1.0, 2.0]]);
        close(x.clone().sort(1), [[1.0, 2.0, 3.0, NAN]]);
        close(x.clone().sort_descending(-1), [[NAN, 3.0, 2.0, 1.0]]);
        same(x.clone().argsort(1), [[2, 3, 0, 1]]);
        let (values, places) = x.topk_with_indices(2, 1);
        close(values, [[NAN, 3.0]]);
        same(places, [[1, 0]]);
        same(ints([2, 9, 4]).topk(2, 0), [9, 4]);
    }
}

mod functions {
    use super::*;
    use keyway::activation::*;

    #[test]
    fn activations() {
        let x = t([-2.0, 0.0, 1.0]);
        let e = |v: f32| v.exp();
        close(relu(x.clone()), [0.0, 0.0, 1.0]);
        close(leaky_relu(x.clone(), 0.1), [-0.2, 0.0, 1.0]);
        close(prelu(x.clone(), t([0.5])), [-1.0, 0.0, 1.0]);
        close(prelu(t([[-1.0, -1.0]]), t([0.5, 0.25])), [[-0.5, -0.25]]);
        close(elu(x.clone(), 2.0), [2.0 * (e(-2.0) - 1.0), 0.0, 1.0]);
        close(celu(x.clone(), 2.0), [2.0 * (e(-1.0) - 1.0), 0.0, 1.0]);
        close(
            selu(t([1.0, -1.0])),
            [1.050_701, 1.050_701 * 1.673_263 * (e(-1.0) - 1.0)],
        );
        close(
            silu(x.clone()),
            [-2.0 / (1.0 + e(2.0)), 0.0, 1.0 / (1.0 + e(-1.0))],
        );
        close(gelu(x.clone()), [-0.045_500_264, 0.0, 0.841_344_7]);
        close(gelu_approximate(t([1.0])), [0.841_192]);
        close(
            softplus(x.clone(), 1.0),
            [(1.0 + e(-2.0)).ln(), 2f32.ln(), (1.0 + e(1.0)).ln()],
        );
        close(softplus(t([200.0, -200.0]), 1.0), [200.0, 0.0]);
        close(softplus(t([1.0]), 2.0), [(1.0 + e(2.0)).ln() / 2.0]);
        close(log_sigmoid(t([0.0, -200.0, 200.0])), [-(2f32.ln()), -200.0, 0.0]);
        close(mish(t([1.0])), [(1.0 + e(1.0)).ln().tanh()]);
        close(hard_sigmoid(t([-9.0, 1.0, 9.0]), 0.2, 0.5), [0.0, 0.7, 1.0]);
        close(hard_swish(t([-4.0, 1.0, 4.0])), [0.0, 2.0 / 3.0, 4.0]);
        close(softsign(x.clone()), [-2.0 / 3.0, 0.0, 0.5]);
        close(glu(t([[3.0, 0.0]]), 1), [[1.5]]);
        close(sigmoid(t([0.0, -INF])), [0.5, 0.0]);
        close(tanh(t([0.0, INF])), [0.0, 1.0]);
    }

    #[test]
    fn softmaxes() {
        let x = t([[0.0, 2f32.ln()]]);
        close(softmax(x.clone(), 1), [[1.0 / 3.0, 2.0 / 3.0]]);
        close(softmin(x.clone(), -1), [[2.0 / 3.0, 1.0 / 3.0]]);
        close(quiet_softmax(x.clone(), 1), [[0.25, 0.5]]);
        close(
            quiet_softmax(t([[-1000.0, -1000.0], [1000.0, 0.0]]), 1),
            [[0.0, 0.0], [1.0, 0.0]],
        );
        close(log_softmax(x, 1).exp(), [[1.0 / 3.0, 2.0 / 3.0]]);
        close(softmax(t([[-INF, -INF]]), 1), [[NAN, NAN]]);
    }

    #[test]
    fn losses() {
        let (x, y) = (t([1.0, -3.0]), t([0.5, 1.0]));
        close(loss::mse(x.clone(), y.clone(), Unreduced), [0.25, 16.0]);
        close(loss::mse(x.clone(), y.clone(), Mean), [8.125]);
        close(loss::l1(x.clone(), y.clone(), Sum), [4.5]);
        close(loss::huber(x.clone(), y.clone(), 2.0, Unreduced), [0.125, 6.0]);
        close(loss::smooth_l1(x.clone(), y, 2.0, Unreduced), [0.0625, 3.0]);
        let e = |v: f32| v.exp();
        close(
            loss::binary_cross_entropy_with_logits(t([2.0, -200.0]), t([1.0, 1.0]), Unreduced),
            [(1.0 + e(-2.0)).ln(), 200.0],
        );
        close(
            loss::kl_div(t([0.5f32.ln(), 0.5f32.ln()]), t([1.0, 0.0]), Unreduced),
            [2f32.ln(), 0.0],
        );
        let logits = t([[0.0, 2f32.ln()], [3.0, 3.0]]);
        close(
            loss::cross_entropy(logits.clone(), ints([1, 0]), Unreduced),
            [1.5f32.ln(), 2f32.ln()],
        );
        close(
            loss::nll(log_softmax(logits, 1), ints([1, 0]), Mean),
            [3f32.ln() / 2.0],
        );
    }

    /// An end that is never reached, and a beginning that no `f32` tells from 0.
    #[test]
    fn losses_of_extreme_widths() {
        let (x, y) = (t([1.0, -3.0, 0.0]), t([0.0; 3]));
        close(
            loss::huber(x.clone(), y.clone(), f64::INFINITY, Unreduced),
            [0.5, 4.5, 0.0],
        );
        close(loss::smooth_l1(x, y, 1e-300, Unreduced), [1.0, 3.0, 0.0]);
    }

    #[test]
    fn losses_refuse_shapes_that_would_broadcast() {
        let wrong = panic_of(|| drop(loss::mse(t([[1.0], [2.0]]), t([[1.0, 2.0]]), Mean)));
        assert_eq!(
            wrong.text,
            "mse: [2, 1] and [1, 2]: prediction and target must have one shape; `expand` stretches"
        );
    }

    /// The stable forms have the right slope at 0 too.
    #[test]
    fn slopes_at_zero() {
        let at_zero = |f: fn(Tensor<Autodiff<Flex>, 1>) -> Tensor<Autodiff<Flex>, 1>| {
            let x = Tensor::zeros([1], &device()).require_grad();
            let gradients = f(x.clone()).backward();
            x.grad(&gradients).unwrap().into_scalar().unwrap()
        };
        assert_eq!(at_zero(|x| softplus(x, 1.0)), 0.5);
        assert_eq!(at_zero(log_sigmoid), 0.5);
        assert_eq!(
            at_zero(|x| loss::binary_cross_entropy_with_logits(x.clone(), x.ones_like(), Sum)),
            -0.5
        );
    }

    /// Inputs of any rank.
    #[test]
    fn linear() {
        let weight = t([[1.0], [2.0], [3.0]]);
        let bias = Some(t([0.5]));
        let y = module::linear(t([1.0, 1.0, 1.0]), weight.clone(), bias.clone());
        close(y, [6.5]);
        let x = t([
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]],
        ]);
        close(module::linear(x, weight, bias), [[[1.5], [2.5]], [[3.5], [6.5]]]);
    }

    #[test]
    fn embedding() {
        let weights = t([[1.0, 2.0], [3.0, 4.0]]);
        close(
            module::embedding(weights, ints([[1, 0, 1]])),
            [[[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]],
        );
    }

    #[test]
    fn convolutions() {
        let x = t([[[1.0, 2.0, 3.0, 4.0]]]);
        let weight = t([[[1.0, -1.0]], [[0.5, 0.5]]]);
        let y = module::conv1d(
            x.clone(),
            weight.clone(),
            Some(t([0.0, 1.0])),
            ConvOptions::default(),
        );
        close(y, [[[-1.0, -1.0, -1.0], [2.5, 3.5, 4.5]]]);
        let strided = ConvOptions::new([2], [1], [1], 1);
        close(
            module::conv1d(x.clone(), weight, None, strided),
            [[[-1.0, -1.0, 4.0], [0.5, 2.5, 2.0]]],
        );
        // Each input adds its multiple of the kernel; one element of padding is cut from either end.
        let up = ConvTransposeOptions::new([2], [1], [1], [1], 1);
        let up = module::conv_transpose1d(x, t([[[1.0, 10.0, 100.0]]]), None, up);
        close(up, [[[10.0, 102.0, 20.0, 203.0, 30.0, 304.0, 40.0, 400.0]]]);
        let image = Tensor::<Flex, 4>::ones([1, 2, 3, 3], &device());
        let kernel = Tensor::ones([2, 1, 2, 2], &device());
        let grouped = module::conv2d(image, kernel, None, ConvOptions::new([1, 1], [0, 0], [2, 2], 2));
        close(grouped, [[[[4.0]], [[4.0]]]]);
    }

    #[test]
    fn pools() {
        let x = t([[[[1.0, 2.0], [4.0, 3.0]]]]);
        let (values, places) = module::max_pool2d_with_indices(x.clone(), MaxPoolOptions::new([2, 2]));
        close(values, [[[[4.0]]]]);
        same(places, [[[[2]]]]);
        let options = AvgPoolOptions::new([2, 2]);
        close(module::avg_pool2d(x.clone(), options), [[[[2.5]]]]);
        let options = options.with_padding([1, 1]);
        let corners = |count| module::avg_pool2d(x.clone(), options.with_count_include_pad(count));
        close(corners(true), [[[[0.25, 0.5], [1.0, 0.75]]]]);
        close(corners(false), [[[[1.0, 2.0], [4.0, 3.0]]]]);
    }

    #[test]
    fn attention_of_a_hidden_row_is_zero() {
        let x = t([[1.0, 0.0], [0.0, 1.0]]);
        let mask = bools([[true, true], [false, true]]);
        let y = module::attention(
            x.clone(),
            x.clone(),
            x.clone(),
            Some(mask),
            None,
            AttentionModuleOptions::default(),
        );
        close(y, [[0.0, 0.0], [1.0, 0.0]]);
        let causal = AttentionModuleOptions {
            scale: Some(0.0),
            is_causal: true,
            ..Default::default()
        };
        close(
            module::attention(x.clone(), x.clone(), x, None, None, causal),
            [[1.0, 0.0], [0.5, 0.5]],
        );
    }

    #[test]
    fn attention_without_a_width_is_the_mean() {
        let (q, k) = (Tensor::zeros([1, 0], &device()), Tensor::zeros([2, 0], &device()));
        let y = module::attention(
            q,
            k,
            t([[1.0], [5.0]]),
            None,
            None,
            AttentionModuleOptions::default(),
        );
        close(y, [[3.0]]);
    }

    #[test]
    fn layer_norm() {
        let y = module::layer_norm(t([[1.0, 3.0]]), Some(t([2.0, 2.0])), Some(t([1.0, 1.0])), 0.0);
        close(y, [[-1.0, 3.0]]);
    }
}

mod text {
    use super::*;

    #[test]
    fn small() {
        assert_eq!(t([1.0, -2.0]).to_string(), "[ 1.0, -2.0]");
        assert_eq!(
            t([[1.5, 10.0], [NAN, -INF]]).to_string(),
            "[[ 1.5000, 10.0000],\n [    NaN,    -inf]]"
        );
        assert_eq!(
            ints([[1, -20], [300, 4]]).to_string(),
            "[[  1, -20],\n [300,   4]]"
        );
        assert_eq!(bools([true, false]).to_string(), "[ true, false]");
        assert_eq!(ints([[[1, 2]], [[3, 4]]]).to_string(), "[[[1, 2]],\n\n [[3, 4]]]");
        assert_eq!(t([1e-7, 1.0]).to_string(), "[1.0000e-7,  1.0000e0]");
        assert_eq!(format!("{:.1}", t([0.25, 2.0])), "[0.2, 2.0]");
    }

    #[test]
    fn nothing_and_a_single_value() {
        assert_eq!(t([0f32; 0]).to_string(), "[]");
        assert_eq!(
            Tensor::<Flex, 2>::zeros([2, 0], &device()).to_string(),
            "[] of shape [2, 0]"
        );
        let scalar = Tensor::<Flex, 0, i32>::full([], 5, &device());
        assert_eq!(scalar.to_string(), "5");
    }

    #[test]
    fn large() {
        let x = Tensor::<Flex, 1, i32>::arange(0..2000, &device());
        assert_eq!(x.clone().to_string(), "[   0,    1,    2, ..., 1997, 1998, 1999]");
        let table = x.reshape([500, 4]).to_string();
        let expected = "[[   0,    1,    2,    3],\n [   4,    5,    6,    7],\n [   8,    9,   10,   11],\n ...,\n \
            [1988, 1989, 1990, 1991],\n [1992, 1993, 1994, 1995],\n [1996, 1997, 1998, 1999]]";
        assert_eq!(table, expected);
    }

    #[test]
    fn long_rows_continue() {
        let text = Tensor::<Flex, 1, i32>::full([60], 7, &device()).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].len() <= 100 && lines[1].starts_with(" 7, "));
        assert_eq!(text.matches('7').count(), 60);
    }

    #[test]
    fn debug_is_short() {
        assert_eq!(format!("{:?}", t([[1.0, 2.0, 3.0]])), "Tensor<Flex, f32>[1, 3]");
    }
}

mod panics {
    use super::*;

    /// Every kind of method panics at the caller's line.
    #[test]
    fn at_the_callers_line() {
        let x = t([[1.0, 2.0, 3.0]]);
        let y = t([[1.0, 2.0]]);
        at(|| &x + &y);
        at(|| 2.0 * &x % &y);
        at(|| x.clone().matmul(y.clone()));
        at(|| x.clone().sum_dim(5));
        at(|| x.clone().reshape([7]));
        at(|| x.clone().slice(0..9));
        at(|| x.clone().std(-3));
        at(|| x.clone().sort(2));
        at(|| x.clone().chunk(0, 0));
        at(|| x.clone().squeeze::<1>().squeeze_dim::<0>(0));
        at(|| x.clone().mask_fill(bools([[true, false]]), 0.0));
        at(|| x.clone().select(0, ints([4])));
        at(|| x.clone().greater(y.clone()));
        at(|| x.clone().max_dim_with_indices(2));
        at(|| Tensor::cat(vec![x.clone(), y.clone()], 0));
        at(|| Tensor::<Flex, 1>::from_vec(vec![1.0], [2], &device()));
        at(|| activation::softmax(x.clone(), 2));
        at(|| linalg::l2_norm(x.clone(), 2));
        at(|| linalg::l0_norm_dims(x.clone(), &[0, 0]));
        at(|| linalg::det::<_, 2, 1, _>(x.clone()));
        at(|| Tensor::<Flex, 1>::einsum("ij", (&x,)));
        at(|| loss::mse(x.clone(), y.clone(), Mean));
        at(|| module::linear(x.clone(), y.clone(), None));
        at(|| module::avg_pool1d(x.clone().unsqueeze(), AvgPoolOptions::new([9])));
    }

    /// The operation, what it was given, and the way out.
    #[test]
    fn with_the_text_of_the_error() {
        let x = t([[1.0, 2.0, 3.0]]);
        let text = |f: &dyn Fn()| panic_of(f).text;
        assert_eq!(
            text(&|| drop(&x + t([[1.0, 2.0]]))),
            "add: [1, 3] and [1, 2]: the sizes of an axis must be equal, or one of them 1"
        );
        assert_eq!(
            text(&|| drop(x.clone().sum_dim(-3))),
            "sum: axis -3 is out of range for a tensor of rank 2"
        );
        assert_eq!(
            text(&|| drop(x.clone().narrow(4, 0, 1))),
            "narrow: axis 4 is out of range for a tensor of rank 2"
        );
        assert_eq!(
            text(&|| drop(x.clone().slice([0..1, 1..4]))),
            "slice: 1..4 of axis 1 of size 3"
        );
        assert_eq!(
            text(&|| drop(x.clone().slice((.., -4..)))),
            "slice: -4.. of axis 1 of size 3"
        );
        assert_eq!(
            text(&|| drop(x.clone().slice(0..usize::MAX))),
            format!("slice: 0..{} of axis 0 of size 1", isize::MAX)
        );
        assert_eq!(
            text(&|| drop(x.clone().flatten::<2>(0, 1))),
            "flatten: the result has rank 1, not 2"
        );
        assert_eq!(
            text(&|| drop(ints([1]) * 0.5f32.to_scalar())),
            "mul: the number 0.5 is no operand for i32 elements; `cast` the tensor first"
        );
        assert_eq!(
            text(&|| drop(x.clone().reshape([-1, 2]))),
            "reshape: [1, 3] to [-1, 2]: the other sizes leave no size for the axis of -1"
        );
    }

    /// What a typed method would panic with, `try_apply` returns.
    #[test]
    fn as_values_on_request() {
        let x = t([[1.0, 2.0, 3.0]]);
        let text = panic_of(|| drop(x.clone().reshape([2, 2]))).text;
        let result = x.clone().try_apply::<2, f32>(|x| x.reshape([2, 2]));
        assert_eq!(result.unwrap_err().to_string(), text);
        assert!(x.clone().try_apply::<3, f32>(|x| x.exp()).is_err());
        assert!(x.clone().try_apply::<2, i32>(|x| x.exp()).is_err());
        close(x.try_apply(|x| x.exp()?.log()).unwrap(), [[1.0, 2.0, 3.0]]);
    }
}

/// Checks that `f` panics on the line of this call.
#[track_caller]
fn at<T>(f: impl FnOnce() -> T) {
    let here = Location::caller();
    let wrong = panic_of(|| drop(f()));
    assert_eq!(
        (wrong.file.as_str(), wrong.line),
        (here.file(), here.line()),
        "{}",
        wrong.text
    );
}

struct Panic {
    text: String,
    file: String,
    line: u32,
}

/// What `f` panics with, and where.
#[track_caller]
fn panic_of(f: impl FnOnce()) -> Panic {
    thread_local! {
        static CAUGHT: RefCell<Option<Option<Panic>>> = const { RefCell::new(None) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let expected = CAUGHT.with_borrow_mut(|caught| {
                caught.as_mut().map(|slot| {
                    let place = info.location().expect("a panic has a place");
                    *slot = Some(Panic {
                        text: info
                            .payload()
                            .downcast_ref::<String>()
                            .cloned()
                            .unwrap_or_default(),
                        file: place.file().to_string(),
                        line: place.line(),
                    });
                })
            });
            if expected.is_none() {
                usual(info);
            }
        }));
    });
    CAUGHT.set(Some(None));
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    let caught = CAUGHT.take().flatten();
    assert!(result.is_err(), "it did not panic");
    caught.expect("the hook has seen the panic")
}
