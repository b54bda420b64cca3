//! A run-time tensor has the methods of a typed one by the same names: each row runs the same tokens on a `Tensor` and on
//! the `DynTensor` of the same values, and compares shapes, element types and bits. Where a type on one is a value on the
//! other, a row holds both calls.
//!
//! These have no counterpart, for what they do is to lead to types, or away from an `Err`:
//! - `raw`, `into_raw`, `try_from_raw`, `try_apply` lead from a typed tensor to a run-time one and back, as `From` and
//!   `TryFrom` do;
//! - `from_array` takes rank and element type from nested arrays: `from_vec` and `from_data` take them as values;
//! - `dims` is an array of length `D`: `shape` is the same without;
//! - `try_*` return what others panic with: every method of a run-time tensor returns a `Result`;
//! - `from_floats`, `from_ints` and `from_bool` are `from_array` of one element type;
//! - `*_scalar` and `*_elem` take a number: an operand of a run-time tensor is a tensor or a number;
//! - the operators have no place for a `Result`: `add`, `bool_not` … are what they call;
//! - `to_backend` changes the type: `to_device` takes a `DynTensor` to any backend;
//! - `conv1d`, `max_pool2d` … have the number of spatial axes in the name: a run-time tensor has it, and `conv`,
//!   `conv_transpose`, `max_pool`, `avg_pool`, their relatives and `adaptive_avg_pool` ask it, and take the same options;
//! - `conv_output_size`, `max_pool_output_size` … are of sizes, not of tensors;
//! - `loss::{Mean, Sum, Unreduced}` decide the rank of the result: `mean` and `sum` follow the loss.

use keyway::grid::{GridIndexing, GridSampleOptions, GridSparsity, IndexPos};
use keyway::linalg::Norm;
use keyway::loss::{Mean, Sum, Unreduced};
use keyway::module::{
    AttentionModuleOptions, AvgPoolOptions, ConvOptions, ConvTransposeOptions, DeformConvOptions,
    InterpolateMode, InterpolateOptions, MaxPoolOptions, UnfoldOptions,
};
use keyway::op::{self, PoolOptions};
use keyway::prelude::*;
use keyway::raw::Raw;
use keyway::signal::StftOptions;
use keyway::{DType, DynDevice, DynTensor, FlexDevice, Pending, Scalar};

/// A tensor, typed and not.
struct Both<const D: usize, E: Element = f32> {
    typed: Tensor<Flex, D, E>,
    dynamic: DynTensor,
}

fn both<const D: usize, E: Element>(typed: Tensor<Flex, D, E>) -> Both<D, E> {
    let dynamic = DynTensor::from_data(typed.to_data().unwrap(), &DynDevice::default()).unwrap();
    Both { typed, dynamic }
}

fn floats<const D: usize>(shape: [usize; D]) -> Both<D> {
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| ((i * 7 + 3) % 11) as f32 * 0.75 - 3.5).collect();
    both(Tensor::from_vec(values, shape, &Default::default()))
}

fn unit<const D: usize>(shape: [usize; D]) -> Both<D> {
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| ((i * 5 + 2) % 13) as f32 / 13.0).collect();
    both(Tensor::from_vec(values, shape, &Default::default()))
}

fn ints<const D: usize>(values: &[i32], shape: [usize; D]) -> Both<D, i32> {
    both(Tensor::from_vec(values.to_vec(), shape, &Default::default()))
}

fn bools(values: [[bool; 3]; 2]) -> Both<2, bool> {
    both(Tensor::from_array(values, &Default::default()))
}

/// What a call gives, as values.
trait Read {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error>;
}

impl<B: Readable, const D: usize, E: Element> Read for Tensor<B, D, E> {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        into.push(self.into_data()?);
        Ok(())
    }
}

impl<B: Readable> Read for Raw<B> {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        into.push(self.into_data()?);
        Ok(())
    }
}

impl Read for TensorData {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        into.push(self);
        Ok(())
    }
}

impl Read for bool {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        TensorData::new(vec![self], [1])?.read(into)
    }
}

impl Read for Scalar {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        TensorData::new(vec![self.to::<f64>()], [1])?.read(into)
    }
}

impl<T: Read> Read for Option<T> {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        self.is_some().read(into)?;
        self.map_or(Ok(()), |x| x.read(into))
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        self.into_iter().try_for_each(|x| x.read(into))
    }
}

impl<S: Read, T: Read> Read for (S, T) {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        self.0.read(into)?;
        self.1.read(into)
    }
}

impl<S: Read, T: Read, U: Read> Read for (S, T, U) {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        self.0.read(into)?;
        self.1.read(into)?;
        self.2.read(into)
    }
}

impl<T: Read> Read for Result<T, Error> {
    fn read(self, into: &mut Vec<TensorData>) -> Result<(), Error> {
        self?.read(into)
    }
}

#[track_caller]
fn compare(call: &str, typed: impl Read, dynamic: impl Read) {
    let (mut want, mut got) = (Vec::new(), Vec::new());
    typed.read(&mut want).unwrap();
    if let Err(error) = dynamic.read(&mut got) {
        panic!("{call}: {error}");
    }
    assert!(!want.is_empty(), "{call} gives nothing to compare");
    assert_eq!(want.len(), got.len(), "{call}");
    for (want, got) in want.iter().zip(&got) {
        assert_eq!((want.shape(), want.dtype()), (got.shape(), got.dtype()), "{call}");
        assert_eq!(bits(want), bits(got), "{call}");
    }
}

fn bits(data: &TensorData) -> Vec<u64> {
    let bit = |at| match data.get(at)? {
        Scalar::Float(v) => Some(v.to_bits()),
        Scalar::Int(v) => Some(v as u64),
        Scalar::UInt(v) => Some(v),
        Scalar::Bool(v) => Some(v.into()),
    };
    (0..).map_while(bit).collect()
}

/// Rows of `call;`, `call, rank D;` where the call leaves the rank of a typed result open, or `typed call => dynamic call;`.
macro_rules! same {
    ([$($x:ident)*]) => {};
    ([$($x:ident)*] $typed:expr => $dynamic:expr; $($rest:tt)*) => {
        let typed = { $(#[allow(unused_variables)] let $x = $x.typed.clone();)* $typed };
        let dynamic = { $(#[allow(unused_variables)] let $x = $x.dynamic.clone();)* $dynamic };
        compare(stringify!($dynamic), typed, dynamic);
        same!([$($x)*] $($rest)*);
    };
    ([$($x:ident)*] $call:expr, rank $D:literal; $($rest:tt)*) => {
        let typed: Tensor<Flex, $D, _> = { $(#[allow(unused_variables)] let $x = $x.typed.clone();)* $call };
        let dynamic = { $(#[allow(unused_variables)] let $x = $x.dynamic.clone();)* $call };
        compare(stringify!($call), typed, dynamic);
        same!([$($x)*] $($rest)*);
    };
    ([$($x:ident)*] $call:expr; $($rest:tt)*) => {
        same!([$($x)*] $call => $call; $($rest)*);
    };
}

/// Rows of a function of typed tensors, `module::name(x, ..)`, that is a method of run-time ones, `x.name(..)`.
macro_rules! functions {
    ($module:ident $xs:tt) => {};
    ($module:ident $xs:tt $name:ident($x:ident $(, $arg:expr)*); $($rest:tt)*) => {
        same!($xs $module::$name($x $(, $arg)*) => $x.$name($($arg),*););
        functions!($module $xs $($rest)*);
    };
}

#[test]
fn element_wise() {
    let (x, y, u) = (floats([2, 3]), floats([1, 3]), unit([2, 3]));
    let (i, j) = (
        ints(&[5, -3, 0, 7, 2, -8], [2, 3]),
        ints(&[2, 3, 1, 4, 1, 2], [2, 3]),
    );
    same! { [x]
        x.neg(); x.abs(); x.sign(); x.exp(); x.expm1(); x.log(); x.log1p(); x.log2(); x.log10(); x.sqrt(); x.square();
        x.recip(); x.sin(); x.cos(); x.tan(); x.sinh(); x.cosh(); x.tanh(); x.asinh(); x.acosh(); x.atan(); x.erf();
        x.floor(); x.ceil(); x.round(); x.trunc(); x.float(); x.int(); x.bool();
        x.cast::<f64>() => x.cast(DType::F64);
        x.clamp(-1.0, 2); x.clamp_min(-1.0); x.clamp_max(2);
        x.add_scalar(2) => x.add(2);
        x.sub(1.5); x.mul(-2.0); x.div(3.0); x.remainder(1.25); x.fmod(1.25); x.powf(3.0); x.powi(3);
        x.max_pair(0.5); x.min_pair(0.5); x.deg2rad(); x.rad2deg(); x.round_to(1); x.round_to(-1);
        x.rank() == 2; x.dtype() == DType::F32;
    }
    same! { [u] u.asin(); u.acos(); u.atanh(); }
    same! { [x y]
        x.add(y); x.sub(y); x.mul(y); x.div(y); x.remainder(y); x.fmod(y); x.powf(y); x.max_pair(y); x.min_pair(y);
        x.atan2(y); x.hypot(y);
    }
    same! { [i j]
        i.powi(j); i.remainder(j); i.div(j); i.bitwise_and(j); i.bitwise_or(j); i.bitwise_xor(j); i.bitwise_left_shift(j);
        i.bitwise_right_shift(j); i.neg(); i.abs(); i.sign(); i.square(); i.bitwise_not(); i.bitwise_and(6);
        i.bitwise_left_shift(2); i.bool(); i.float();
    }
}

#[test]
fn comparisons_and_masks() {
    let (x, y) = (floats([2, 3]), floats([1, 3]));
    let n = both(Tensor::from_array(
        [[f32::NAN, 1.0, f32::INFINITY], [0.0, -1.0, f32::NEG_INFINITY]],
        &Default::default(),
    ));
    let (a, b) = (
        bools([[true, false, true], [false, false, true]]),
        bools([[true, true, false], [false, true, true]]),
    );
    same! { [x y]
        x.equal(y); x.not_equal(y); x.lower(y); x.lower_equal(y); x.greater(y); x.greater_equal(y);
        x.equal_scalar(-3.5) => x.equal(-3.5);
        x.not_equal_elem(0) => x.not_equal(0);
        x.lower_scalar(0) => x.lower(0);
        x.greater_equal_elem(0.25) => x.greater_equal(0.25);
        x.equal(-3.5); x.not_equal(0); x.lower(0); x.lower_equal(0.25); x.greater(0); x.greater_equal(0.25);
        x.is_close(y, None, None); x.is_close(y, Some(0.5), Some(1.0));
        x.all_close(y, Some(1e-3), None);
    }
    same! { [n] n.is_nan(); n.is_inf(); n.is_finite(); n.contains_nan(); { let m = n.clone(); n.is_close(m, None, None) };
    { let m = n.clone(); n.all_close(m, None, None) }; }
    same! { [a b]
        a.bool_and(b); a.bool_or(b); a.bool_xor(b); a.bool_not(); a.equal(b); a.not_equal(true); a.any(); a.all();
    }
    same! { [x a y] x.mask_where(a, y); x.mask_where(a, 2.0); x.mask_fill(a, -1); }
}

#[test]
fn reductions() {
    let (x, i) = (floats([2, 3, 4]), ints(&[5, -3, 0, 7, 2, -8], [2, 3]));
    same! { [x]
        x.sum(); x.sum_dim(1); x.sum_dims(&[0, 2]); x.mean(); x.mean_dim(1); x.mean_dims(&[0, 2]);
        x.prod(); x.prod_dim(1); x.prod_dims(&[0, 2]); x.max(); x.max_dim(1); x.max_dims(&[0, 2]);
        x.min(); x.min_dim(1); x.min_dims(&[0, 2]); x.max_abs(); x.max_abs_dim(1); x.max_abs_dims(&[0, 2]);
        x.sum_dims_squeeze(&[0, 2]), rank 1;
        x.argmax(1); x.argmin(2); x.max_dim_with_indices(1); x.min_dim_with_indices(2);
        x.any(); x.any_dim(0); x.all(); x.all_dim(0);
        x.var(1); x.var_bias(1); x.var_mean(2); x.var_mean_bias(2); x.std(1); x.median(2); x.cov(1, 1);
        x.median_with_indices(1);
        x.cumsum(1); x.cumprod(1); x.cummax(2); x.cummin(2);
    }
    same! { [i] i.sum(); i.prod_dim(0); i.max(); i.argmin(1); i.any_dim(1); i.all(); i.median(1); i.cumsum(1); i.max_abs(); }
}

#[test]
fn movement() {
    let (x, y, row) = (floats([2, 3, 4]), floats([2, 3, 4]), floats([1, 3]));
    same! { [x]
        x.reshape([4, 6]), rank 2;
        x.flatten(1, 2), rank 2;
        x.unsqueeze_dim(1), rank 4;
        x.unsqueeze_dims(&[0, 4]), rank 5;
        x.unsqueeze::<5>() => x.unsqueeze(5);
        x.transpose(); x.swap_dims(0, 2); x.permute([2, 0, 1]); x.movedim([0, 1], [1, 2]);
        x.movedim(0, -1) => x.movedim([0], [2]);
        x.flip([0, 2]);
        x.roll(&[1, -2], &[0, 2]); x.roll_dim(5, 1); x.narrow(2, 1, 2); x.chunk(2, 1); x.split(2, 2);
        x.split_with_sizes(&[1, 3], 2);
        x.iter_dim(1).collect::<Vec<_>>() => x.iter_dim(1).map(|parts| parts.collect::<Vec<_>>());
        x.repeat(&[1, 2, 3]); x.repeat_dim(1, 2); x.pad([(1, 0), (2, 1)], 0.5); x.pad([(1, 2)], PadMode::Reflect);
        x.triu(1); x.tril(-1);
        x.slice([0..1, 1..3]); x.slice((.., -1)); x.slice(1..); x.slice(s![.., ..;2, 1..;-1]);
        x.slice_dim(2, -3..-1); x.slice_fill(s![1, .., 2..], 9.0);
        linalg::diag::<_, 3, 2, _>(x) => x.diag();
    }
    same! { [row]
        row.t();
        row.squeeze(), rank 1;
        row.squeeze_dim(0), rank 1;
        row.squeeze_dims(&[0]), rank 1;
        row.expand([4, 2, 3]), rank 3;
    }
    same! { [x y]
        x.slice_assign(0..1, y.slice(1..2))
            => y.slice(1..2).and_then(|part| x.slice_assign(0..1, part));
        Tensor::cat(vec![x, y], 1) => DynTensor::cat(vec![x, y], 1);
    }
    same! { [x y] Tensor::stack::<4>(vec![x, y], 1) => DynTensor::stack(vec![x, y], 1); }
}

#[test]
fn indices_and_order() {
    let (x, v) = (floats([2, 3]), floats([2, 2]));
    let (at, rows, mask) = (
        ints(&[2, 0, 1, 1], [2, 2]),
        ints(&[1, 0], [2]),
        bools([[true, false, true], [false, false, true]]),
    );
    same! { [x at v]
        x.gather(1, at); x.scatter(1, at, v, ScatterMode::Add); x.scatter(1, at, v, ScatterMode::Set);
        x.take::<2, 3>(0, at.remainder(2)) => at.remainder(2).and_then(|at| x.take(0, at));
    }
    same! { [x rows]
        x.select(0, rows); { let y = x.clone(); x.select_assign(0, rows, y, ScatterMode::Max) };
    }
    same! { [x mask] x.mask_select(mask); mask.nonzero(); mask.argwhere(); }
    same! { [x]
        x.sort(1); x.sort_descending(1); x.sort_with_indices(0); x.sort_descending_with_indices(0); x.argsort(1);
        x.argsort_descending(1); x.topk(2, 1); x.topk_with_indices(2, 1); x.nonzero(); x.argwhere();
        x.argtopk(2, 1);
        x.select_dim(1, 2), rank 1;
    }
    let pairs = ints(&[1, 0, 0, 2], [2, 2]);
    let w = floats([2]);
    same! { [x pairs] x.gather_nd(pairs), rank 1; }
    same! { [x pairs w] x.scatter_nd(pairs, w, ScatterMode::Mul); }
}

#[test]
fn creation_and_reading() {
    let (x, i, one) = (floats([2, 3]), ints(&[2, 0, 1], [3]), floats([1]));
    let (flex, device) = (FlexDevice::default(), DynDevice::default());
    type T<const D: usize, E = f32> = Tensor<Flex, D, E>;
    same! { [x]
        x.zeros_like(); x.ones_like(); x.full_like(2.5); x.to_data(); x.into_data();
        { x.device().seed(7); x.random_like(Distribution::Normal(1.0, 2.0)) };
    }
    same! { [x] x.to_device(&flex) => x.to_device(&device); }
    same! { [one] one.into_scalar().map(Scalar::from) => one.into_scalar(); }
    same! { [x]
        x.into_vec().and_then(|values| TensorData::new(values, [6]))
            => x.into_vec::<f32>().and_then(|values| TensorData::new(values, [6]));
    }
    same! { [x]
        x.to_vec().and_then(|values| TensorData::new(values, [6]))
            => x.to_vec::<f32>().and_then(|values| TensorData::new(values, [6]));
        x.into_vec_as::<i16>().and_then(|values| TensorData::new(values, [6]));
        x.to_vec_as::<u8>().and_then(|values| TensorData::new(values, [6]));
        x.into_data_as::<f64>(); x.to_data_as::<bool>(); x.empty_like();
        { let mut x = x; x.inplace(|x| x.neg()); x } => { let mut x = x; x.inplace(|x| x.neg()).map(|()| x) };
        { let mut x = x; [x.extract(), x].to_vec() }
            => { let mut x = x; x.extract().map(|out| vec![out, x]) };
        { x.device().seed(7); x.abs().categorical(5) } => { x.device().seed(7); x.abs().and_then(|x| x.categorical(5)) };
    }
    same! { [i] i.one_hot(4), rank 2; i.one_hot_fill(4, 3, -1, 0), rank 2; }
    same! { []
        T::<2>::zeros([2, 3], &flex) => DynTensor::zeros([2, 3], DType::F32, &device);
        T::<1, bool>::zeros([2], &flex) => DynTensor::zeros([2], DType::Bool, &device);
        T::<2, i64>::ones([2, 3], &flex) => DynTensor::ones([2, 3], DType::I64, &device);
        T::<1, bool>::ones([2], &flex) => DynTensor::ones([2], DType::Bool, &device);
        T::<1, u8>::full([3], 7, &flex) => DynTensor::full([3], 7, DType::U8, &device);
        T::<2>::from_vec(vec![1.0, 2.0], [2, 1], &flex) => DynTensor::from_vec(vec![1.0f32, 2.0], [2, 1], &device);
        T::<1, i32>::arange(-2..5, &flex) => DynTensor::arange(-2..5, DType::I32, &device);
        T::<1>::arange_step(1..8, 3, &flex) => DynTensor::arange_step(1..8, 3, DType::F32, &device);
        T::<1>::linspace(0.0, 1.0, 7, &flex) => DynTensor::linspace(0.0, 1.0, 7, DType::F32, &device);
        { flex.seed(3); T::<2>::random([3, 4], Distribution::Default, &flex) }
            => { device.seed(3); DynTensor::random([3, 4], Distribution::Default, DType::F32, &device) };
        T::<2>::empty([2, 3], &flex) => DynTensor::empty([2, 3], DType::F32, &device);
        T::<1>::from_floats([1.0, 2.0], &flex) => DynTensor::from_vec(vec![1.0f32, 2.0], [2], &device);
        T::<1, i32>::from_ints([1, 2], &flex) => DynTensor::from_vec(vec![1, 2], [2], &device);
        T::<1, bool>::from_bool([true], &flex) => DynTensor::from_vec(vec![true], [1], &device);
        T::<3, bool>::triu_mask([2, 3, 4], 1, &flex) => DynTensor::triu_mask([2, 3, 4], 1, &device);
        T::<2, bool>::tril_mask([3, 4], -1, &flex) => DynTensor::tril_mask([3, 4], -1, &device);
        T::<2, bool>::diag_mask([3, 4], 2, &flex) => DynTensor::diag_mask([3, 4], 2, &device);
        T::<2, i32>::eye(3, &flex) => DynTensor::eye(3, DType::I32, &device);
    }
}

#[test]
fn products_and_norms() {
    let (x, y, a, b) = (floats([2, 3]), floats([3, 4]), floats([3]), unit([3]));
    let square = floats([3, 3]);
    same! { [x y] x.matmul(y); }
    same! { [a b] a.dot(b); }
    let batch = floats([2, 3, 3]);
    same! { [a b]
        a.cross(b, 0);
        linalg::outer::<_, 1, 2, _>(a, b) => a.outer(b);
        linalg::outer_dim::<_, 1, 2, _>(a, b, 0) => a.outer_dim(b, 0);
        Tensor::<Flex, 2>::einsum("i,j->ij", (&a, &b)) => DynTensor::einsum("i,j->ij", vec![a, b]);
        linalg::einsum::<_, _, 1>("i,i", [&a, &b]) => DynTensor::einsum("i,i", vec![a, b]);
    }
    same! { [square a]
        linalg::trace::<_, 2, 1, _>(square) => square.trace();
        linalg::det::<_, 2, 1, _>(square) => square.det();
        linalg::solve::<_, 2, 1, 1, _>(square, a) => square.solve(a);
    }
    same! { [batch]
        linalg::diag::<_, 3, 2, _>(batch) => batch.diag();
        linalg::trace::<_, 3, 2, _>(batch) => batch.trace();
        linalg::det::<_, 3, 1, _>(batch) => batch.det();
    }
    same! { [batch square]
        linalg::solve::<_, 3, 2, 3, _>(batch, square) => batch.solve(square);
    }
    same! { [x] linalg::svd::<_, 2, 1, _>(x, true) => x.svd(true); }
    functions! { linalg [a b] cosine_similarity(a, b, 0, None); cosine_similarity(a, b, 0, Some(100.0)); }
    functions! { linalg [square a] matvec(square, a); }
    functions! { linalg [x] lu(x); qr(x, true); qr(x, false); }
    functions! { linalg [square] cholesky(square, false); cholesky(square, true); }
    functions! { linalg [x]
        l0_norm(x, 1); l1_norm(x, 1); l2_norm(x, 1); max_abs_norm(x, 0); min_abs_norm(x, 0); lp_norm(x, 3.0, 1);
        l0_norm_dims(x, &[0, 1]); l1_norm_dims(x, &[0, 1]); l2_norm_dims(x, &[0, 1]); max_abs_norm_dims(x, &[0, 1]);
        min_abs_norm_dims(x, &[1]); lp_norm_dims(x, 0.5, &[0, 1]);
        vector_norm(x, Norm::L0, 1); vector_norm(x, Norm::LNegInf, 1); vector_norm(x, 2, 1); vector_norm(x, 1.5f32, 1);
        vector_norm_dims(x, Norm::LInf, &[0, 1]); vector_normalize(x, Norm::L2, 1, 1e-6);
    }
}

#[test]
fn activations() {
    let (x, alpha) = (
        floats([2, 4]),
        both(Tensor::from_array([0.25], &Default::default())),
    );
    functions! { activation [x]
        relu(x); leaky_relu(x, 0.1); elu(x, 0.7); celu(x, 0.7); selu(x); gelu(x); gelu_approximate(x); silu(x); sigmoid(x);
        log_sigmoid(x); hard_sigmoid(x, 0.2, 0.5); hard_swish(x); mish(x); tanh(x); softplus(x, 2.0); softsign(x);
        softmax(x, 1); log_softmax(x, 1); softmin(x, 0); quiet_softmax(x, 1); glu(x, 1);
        softplus_with_threshold(x, 2.0, 1.0); hardtanh(x, -0.5, 1.5); relu6(x); tanhshrink(x); threshold(x, 0.5, -1.0);
        thresholded_relu(x, 0.5); hard_shrink(x, 0.5); soft_shrink(x, 0.5); shrink(x, 1.0, 0.25);
    }
    functions! { activation [x alpha] prelu(x, alpha); }
}

/// A loss of a run-time tensor is unreduced; `mean` and `sum` follow.
macro_rules! losses {
    ($($x:ident $t:ident $name:ident($($arg:expr)?);)*) => { $(
        same! { [$x $t]
            loss::$name($x, $t, $($arg,)? Unreduced) => $x.$name($t $(, $arg)?);
            loss::$name($x, $t, $($arg,)? Mean) => $x.$name($t $(, $arg)?).and_then(DynTensor::mean);
            loss::$name($x, $t, $($arg,)? Sum) => $x.$name($t $(, $arg)?).and_then(DynTensor::sum);
        }
    )* };
}

#[test]
fn losses() {
    let (x, t, classes) = (floats([2, 3]), unit([2, 3]), ints(&[2, 0], [2]));
    losses! {
        x t mse(); x t l1(); x t huber(0.5); x t smooth_l1(0.5); x t binary_cross_entropy_with_logits(); x t kl_div();
        x classes cross_entropy(); x classes nll();
    }
    same! { [x t]
        loss::cross_entropy_with_logits(x, t) => x.cross_entropy_with_logits(t).and_then(DynTensor::mean);
    }
    let (x, labels) = (floats([4, 2, 3]), ints(&[1, 2, 2, 1], [2, 2]));
    let (steps, lengths) = (ints(&[4, 3], [2]), ints(&[2, 1], [2]));
    same! { [x labels steps lengths]
        module::ctc_loss(activation::log_softmax(x, 2), labels, steps, lengths, 0)
            => x.log_softmax(2).and_then(|x| x.ctc_loss(labels, steps, lengths, 0));
    }
}

#[test]
fn layers() {
    let (x, w, b) = (floats([2, 3]), floats([3, 4]), floats([4]));
    let rows = ints(&[1, 0, 1, 1], [2, 2]);
    same! { [x w b]
        module::linear(x, w, Some(b)) => x.linear(w, Some(b));
    }
    same! { [x rows] module::embedding::<_, 2, 3, _, _>(x, rows) => x.embedding(rows); }
    let (gain, shift) = (unit([3]), floats([3]));
    functions! { module [x gain shift] layer_norm(x, Some(gain), Some(shift), 1e-5); layer_norm(x, None, None, 1e-3); }
    let (q, k, v, bias) = (
        floats([2, 3, 4]),
        unit([2, 3, 4]),
        floats([2, 3, 2]),
        unit([1, 3, 3]),
    );
    let options = AttentionModuleOptions {
        scale: Some(0.5),
        softcap: Some(2.0),
        is_causal: true,
        ..Default::default()
    };
    functions! { module [q k v bias] attention(q, k, v, None, Some(bias), options); }
    let (x, c, d, m, s) = (floats([2, 3, 2]), unit([3]), floats([3]), floats([3]), unit([3]));
    functions! { module [x c d m s] batch_norm(x, c, d, m, s, 1e-5); }
    same! { [x c d]
        { let y = module::batch_norm_train(x, c, d, 1e-5); vec![y.output.into_raw(), y.mean.into_raw(), y.variance.into_raw()] }
            => x.batch_norm_train(c, d, 1e-5).map(|(y, mean, variance)| vec![y, mean, variance]);
    }
}

#[test]
fn convolutions() {
    let (x, w, b) = (floats([2, 2, 5]), floats([3, 2, 2]), floats([3]));
    let options = ConvOptions::new([2], [1], [1], 1);
    let run_time: op::ConvOptions = options.into();
    same! { [x w b]
        module::conv1d(x, w, Some(b), options) => x.conv(w, Some(b), options);
        module::conv1d(x, w, Some(b), options) => x.conv(w, Some(b), run_time.clone());
    }
    let (w, b) = (floats([2, 3, 2]), floats([3]));
    let transposed = ConvTransposeOptions::new([2], [1], [1], [1], 1);
    same! { [x w b]
        module::conv_transpose1d(x, w, Some(b), transposed) => x.conv_transpose(w, Some(b), transposed);
    }
    let (x, w, grad) = (floats([1, 2, 4, 4]), floats([2, 1, 2, 2]), floats([1, 2, 2, 5]));
    let options = ConvOptions::new([1, 1], [0, 1], [2, 1], 2);
    let transposed = ConvTransposeOptions::new([1, 1], [0, 1], [0, 0], [2, 1], 2);
    same! { [x w grad]
        module::conv2d(x, w, None, options) => x.conv(w, None, options);
        module::conv2d_weight_backward(x, w, grad, options) => x.conv_weight_backward(w, grad, options);
        module::conv_transpose2d(x, w, None, transposed) => x.conv_transpose(w, None, transposed);
    }
    let (offset, mask, b) = (floats([1, 16, 3, 3]), unit([1, 8, 3, 3]), floats([2]));
    let deform = DeformConvOptions::new([1, 1], [0, 0], [1, 1], 2, 2);
    functions! { module [x offset w mask b] deform_conv2d(x, offset, w, Some(mask), Some(b), deform); }
    let (x, w) = (floats([1, 2, 3, 3, 3]), floats([2, 2, 2, 2, 2]));
    same! { [x w]
        module::conv3d(x, w, None, Default::default()) => x.conv(w, None, op::ConvOptions::new(3));
        module::conv_transpose3d(x, w, None, Default::default()) => x.conv_transpose(w, None, op::ConvOptions::new(3));
    }
}

#[test]
fn pools() {
    let x = floats([2, 2, 5]);
    let (max, avg) = (
        MaxPoolOptions::new([2]).with_dilation([2]).with_ceil_mode(true),
        AvgPoolOptions::new([2]).with_padding([1]).with_ceil_mode(true),
    );
    same! { [x]
        module::max_pool1d(x, max) => x.max_pool(max);
        module::max_pool1d_with_indices(x, max) => x.max_pool_with_indices(max);
        module::avg_pool1d(x, avg) => x.avg_pool(avg);
        module::adaptive_avg_pool1d(x, 3) => x.adaptive_avg_pool(&[3]);
        module::max_pool1d(x, MaxPoolOptions::new([2])) => x.max_pool(PoolOptions::new(vec![2]));
    }
    let (x, grad) = (floats([1, 2, 4, 4]), floats([1, 2, 3, 2]));
    let places = ints(&[0, 3, 5, 5, 9, 12, 0, 1, 2, 3, 4, 15], [1, 2, 3, 2]);
    let max = MaxPoolOptions::new([2, 3])
        .with_stride([1, 2])
        .with_padding([0, 1]);
    let avg = AvgPoolOptions::new([2, 3])
        .with_stride([1, 2])
        .with_padding([0, 1]);
    same! { [x grad places]
        module::max_pool2d(x, max) => x.max_pool(max);
        module::max_pool2d_with_indices(x, max) => x.max_pool_with_indices(max);
        module::avg_pool2d(x, avg) => x.avg_pool(avg);
        module::adaptive_avg_pool2d(x, [3, 1]) => x.adaptive_avg_pool(&[3, 1]);
        module::avg_pool2d_backward(x, grad, [2, 3], [1, 2], [0, 1], [1, 1], true, false) => x.avg_pool_backward(grad, avg);
        module::max_pool2d_with_indices_backward(x, [2, 3], [1, 2], [0, 1], [1, 1], false, grad, places)
            => x.max_pool_with_indices_backward(max, grad, places);
    }
    let (x, grad) = (floats([1, 1, 2, 4, 4]), floats([1, 1, 1, 2, 2]));
    let places = ints(&[0, 3, 31, 31], [1, 1, 1, 2, 2]);
    let (max, avg) = (MaxPoolOptions::new([2; 3]), AvgPoolOptions::new([2; 3]));
    let (two, none, one) = ([2; 3], [0; 3], [1; 3]);
    same! { [x grad places]
        module::max_pool3d(x, max) => x.max_pool(max);
        module::max_pool3d_with_indices(x, max) => x.max_pool_with_indices(max);
        module::avg_pool3d(x, avg) => x.avg_pool(avg);
        module::adaptive_avg_pool3d(x, [1, 3, 2]) => x.adaptive_avg_pool(&[1, 3, 2]);
        module::avg_pool3d_backward(x, grad, two, two, none, one, true, false) => x.avg_pool_backward(grad, avg);
        module::max_pool3d_with_indices_backward(x, two, two, none, one, false, grad, places)
            => x.max_pool_with_indices_backward(max, grad, places);
    }
}

#[test]
fn windows_and_grids() {
    let (x, columns, places) = (floats([1, 2, 4, 4]), floats([1, 8, 9]), unit([1, 2, 3, 2]));
    let blocks = UnfoldOptions::default();
    let twice = InterpolateOptions::new(InterpolateMode::Bicubic).with_scale_factor([2.0, 1.5]);
    functions! { module [x columns]
        unfold4d(x, [2, 2], blocks); fold4d(columns, [4, 4], [2, 2], blocks); interpolate(x, twice);
    }
    same! { [x places]
        x.unfold(2, 3, 1), rank 5;
        x.grid_sample_2d(places, InterpolateMode::Nearest);
        x.grid_sample_2d(places, GridSampleOptions::default());
    }
    let (a, b, maps) = (floats([2]), unit([2]), floats([2, 2, 3]));
    same! { [a b]
        Vec::from(grid::meshgrid(&[a, b], GridSparsity::Sparse)) => Raw::meshgrid(&[a, b], GridSparsity::Sparse);
        Vec::from(grid::meshgrid(&[a, b], GridIndexing::Cartesian)) => Raw::meshgrid(&[a, b], GridIndexing::Cartesian);
        grid::meshgrid_stack::<_, 2, 3, _>(&[a, b], IndexPos::Last) => Raw::meshgrid_stack(&[a, b], IndexPos::Last);
    }
    functions! { grid [maps] affine_grid_2d(maps, [2, 5, 2, 3]); }
    let (here, there) = (FlexDevice::default(), DynDevice::default());
    compare(
        "cartesian_grid",
        Tensor::<Flex, 2, i32>::cartesian_grid::<3>([2, 3], &here),
        DynTensor::cartesian_grid([2, 3], DType::I32, &there),
    );
}

#[test]
fn transforms() {
    let (x, im) = (floats([2, 3]), unit([2, 3]));
    functions! { signal [x im]
        rfft(x, 1, None); rfft(x, 0, Some(5)); irfft(x, im, 1, None); cfft(x, im, 1, None); ifft(x, im, 1, Some(4));
    }
    let (x, window) = (floats([2, 9]), unit([4]));
    let options = StftOptions::new(4);
    functions! { signal [x window] stft(x, Some(window), options); stft(x, None, StftOptions::new(6)); }
    let (y, window) = (floats([2, 5, 3, 2]), unit([4]));
    functions! { signal [y window] istft(y, Some(window), Some(7), options); istft(y, None, None, options); }
    let (flex, device) = (FlexDevice::default(), DynDevice::default());
    same! { []
        signal::hann_window::<Flex, f32>(5, true, &flex) => DynTensor::hann_window(5, true, DType::F32, &device);
        signal::hamming_window::<Flex, f64>(5, false, &flex) => DynTensor::hamming_window(5, false, DType::F64, &device);
        signal::blackman_window::<Flex, f32>(5, true, &flex) => DynTensor::blackman_window(5, true, DType::F32, &device);
    }
}

#[test]
fn gradients() -> Result<(), Error> {
    let x = floats([3]);
    let typed = Tensor::<Autodiff<Flex>, 1>::from_inner(x.typed);
    let dynamic = DynTensor::from_inner(x.dynamic.clone().require_grad()?.inner()?);
    compare(
        "is_require_grad",
        typed.is_require_grad(),
        dynamic.is_require_grad(),
    );
    let (typed, dynamic) = (typed.require_grad(), dynamic.require_grad()?);
    compare("require_grad", typed.is_require_grad(), dynamic.is_require_grad());
    compare(
        "is_tracked",
        typed.clone().neg().is_tracked(),
        dynamic.clone().neg()?.is_tracked(),
    );
    compare(
        "set_require_grad",
        typed.clone().set_require_grad(false).is_tracked(),
        dynamic.clone().set_require_grad(false)?.is_tracked(),
    );
    compare("inner", typed.clone().inner(), dynamic.clone().inner());
    compare(
        "detach",
        typed.clone().detach().is_require_grad(),
        dynamic.clone().detach().is_require_grad(),
    );
    let mut want = typed.clone().square().backward();
    let mut got = dynamic.clone().square()?.backward()?;
    compare("grad", typed.grad(&want), dynamic.grad(&got));
    compare(
        "grad_remove",
        typed.grad_remove(&mut want),
        dynamic.grad_remove(&mut got),
    );
    compare(
        "grad_remove",
        typed.grad_remove(&mut want),
        dynamic.grad_remove(&mut got),
    );
    typed.grad_replace(&mut want, typed.clone().inner());
    dynamic.grad_replace(&mut got, dynamic.clone().detach())?;
    compare("grad_replace", typed.grad(&want), dynamic.grad(&got));
    let want = typed.clone().square().backward_synced()?;
    let got = dynamic.clone().square()?.backward_synced()?;
    compare("backward_synced", typed.grad(&want), dynamic.grad(&got));
    Ok(())
}

/// Runs the same tokens on every member of a typed group and of a run-time one.
macro_rules! in_group {
    ($($x:ident => $call:expr;)*) => { $(
        let typed = members(Mesh::<Flex>::open(2).unwrap(), |rank, device| {
            let $x = Tensor::<Autodiff<Mesh<Flex>>, 2>::from_data(share(rank), &device);
            let mut into = Vec::new();
            $call.read(&mut into).map(|()| into)
        });
        let dynamic = members(DynDevice::open("mesh:flex:2").unwrap(), |rank, device| {
            let $x = DynTensor::from_data(share(rank), &device)?;
            let mut into = Vec::new();
            $call.read(&mut into).map(|()| into)
        });
        compare(stringify!($call), typed, dynamic);
    )* };
}

fn share(rank: usize) -> TensorData {
    let values = (0..4).map(|i| (i + 10 * rank) as f32).collect();
    TensorData::new(values, [2, 2]).unwrap()
}

fn members<D: Send>(
    devices: Vec<D>,
    f: impl Fn(usize, D) -> Result<Vec<TensorData>, Error> + Sync,
) -> Result<Vec<Vec<TensorData>>, Error> {
    std::thread::scope(|scope| {
        let f = &f;
        let each = devices.into_iter().enumerate();
        let started: Vec<_> = each
            .map(|(rank, device)| scope.spawn(move || f(rank, device)))
            .collect();
        started.into_iter().map(|member| member.join().unwrap()).collect()
    })
}

#[test]
fn groups() {
    in_group! {
        x => x.all_reduce(ReduceKind::Sum);
        x => x.all_reduce_async(ReduceKind::Mean).and_then(Pending::wait);
        x => x.broadcast(1);
        x => x.broadcast_async(1).and_then(Pending::wait);
        x => x.all_gather(1);
        x => x.all_gather_async(0).and_then(Pending::wait);
        x => x.reduce_scatter(0, ReduceKind::Sum);
        x => x.reduce_scatter_async(1, ReduceKind::Sum).and_then(Pending::wait);
        x => x.all_to_all(0, 1);
        x => x.all_to_all_async(1, 1).and_then(Pending::wait);
        x => x.is_distributed();
    }
    let typed = members(Mesh::<Flex>::open(2).unwrap(), |rank, device| {
        let x = Tensor::<Autodiff<Mesh<Flex>>, 2>::from_data(share(rank), &device);
        let x = x.require_grad().set_distributed_params("x");
        assert_eq!(x.distributed_params(), Some(ParamId::from("x")));
        let gradients = x.clone().square().backward_synced()?;
        Ok(vec![x.grad(&gradients).unwrap().into_data()?])
    });
    let dynamic = members(DynDevice::open("mesh:flex:2").unwrap(), |rank, device| {
        let x = DynTensor::from_data(share(rank), &device)?;
        let x = x.require_grad()?.set_distributed_params("x")?;
        assert_eq!(x.distributed_params(), Some(ParamId::from("x")));
        let gradients = x.clone().square()?.backward_synced()?;
        Ok(vec![x.grad(&gradients)?.unwrap().into_data()?])
    });
    compare("set_distributed_params, backward_synced", typed, dynamic);
}
