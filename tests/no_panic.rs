//! A run-time tensor never panics: every method, with arguments of every kind on tensors of every kind.

use keyway::module::{
    AvgPoolOptions, CoordinateTransformMode, InterpolateMode, InterpolateOptions, MaxPoolOptions,
};
use keyway::op::{ConvOptions, PoolOptions};
use keyway::prelude::*;
use keyway::raw::{ConvTransposeOptions, DeformConvOptions, UnfoldOptions};
use keyway::{DType, DynDevice, DynTensor, PrintOptions, set_print_options};

#[test]
fn every_call_returns() -> Result<(), Error> {
    for name in ["flex", "ndarray", "candle", "tch"] {
        let Ok(device) = name.parse::<DynDevice>() else {
            continue; // not compiled in
        };
        let tensors = tensors(&device)?;
        for x in &tensors {
            for axis in [0, 1, 2, 7, 1 << 63, usize::MAX] {
                one_axis(x, axis);
            }
            one_tensor(x);
            for y in &tensors {
                two_tensors(x, y);
            }
        }
    }
    Ok(())
}

/// What no machine holds is refused before it is asked of the system, which would end the process.
#[test]
fn results_that_memory_cannot_hold_are_errors() -> Result<(), Error> {
    const HUGE: usize = 1 << 45;
    for name in ["flex", "ndarray", "candle", "tch"] {
        let Ok(device) = name.parse::<DynDevice>() else {
            continue; // not compiled in
        };
        let refused = |result: Result<DynTensor, Error>| {
            let text = result.expect_err("it cannot be held").to_string();
            assert!(text.contains("bytes, more than can be allocated"), "{text}");
        };
        refused(DynTensor::zeros([HUGE], DType::F32, &device));
        let view = DynTensor::ones([1], DType::F32, &device)?.expand([HUGE])?;
        refused(view.clone().exp());
        refused(view.clone().add(1.0f32));
        refused(view.clone().cast(DType::I64));
        refused(view.clone().repeat(&[2]));
        refused(view.clone().rfft(0, None).map(|x| x.0));
        refused(view.clone().cfft(view.clone(), 0, None).map(|x| x.0));
        refused(view.clone().irfft(view.clone(), 0, None));
        refused(
            DynTensor::ones([1], DType::F32, &device)?
                .rfft(0, Some(HUGE))
                .map(|x| x.0),
        );
        assert!(view.clone().into_data().is_err());

        // Operands that are laid out anew, and the windows of a pool: those that walk over them are not asked.
        if !["ndarray", "tch"].contains(&name) {
            let rows = view.clone().reshape([1, HUGE])?.expand([2, HUGE])?;
            refused(rows.clone().sum_dim(1));
            refused(rows.max_dim(1));
            refused(DynTensor::ones([1], DType::U8, &device)?.expand([1 << 62])?.sum());
            let mut pool = PoolOptions::new(&[HUGE, 1][..]);
            pool.padding[0] = (HUGE / 2, HUGE / 2);
            let pixel = DynTensor::ones([1, 1, 1, 1], DType::F32, &device)?;
            refused(pixel.avg_pool(pool));
        }

        // Tables that the host makes beforehand.
        let image = || DynTensor::ones([1, 1, 1, 1], DType::F32, &device);
        let nearest = InterpolateOptions::new(InterpolateMode::Nearest);
        refused(image()?.interpolate(nearest.with_output_size([HUGE, 1])));
        refused(image()?.interpolate(nearest.with_scale_factor([1.0, 1e13])));
        refused(image()?.adaptive_avg_pool(&[HUGE, 1]));
        refused(view.narrow(0, 0, 1 << 30)?.unfold(0, 1 << 28, 1 << 20));
        refused(DynTensor::hann_window(HUGE, true, DType::F16, &device));
        refused(DynTensor::blackman_window(HUGE, false, DType::F64, &device));
        let text = DynTensor::hann_window(1 << 61, true, DType::F16, &device);
        let text = text.expect_err("it cannot be held").to_string();
        assert!(text.contains("exceeds the address space"), "{text}");
        let bytes = DynTensor::ones([1], DType::U8, &device)?.expand([1 << 28])?;
        refused(bytes.clone().unfold(0, 1 << 27, 1));
        let plane = bytes.reshape([1, 1, 1, 1 << 28])?;
        refused(plane.clone().unfold4d([1, 1 << 27], UnfoldOptions::default()));
        let blocks = DynTensor::ones([1], DType::U8, &device)?.expand([1, 1 << 26, 1 << 26])?;
        let options = UnfoldOptions::new([1, 1], [0, 0], [1, 1]);
        refused(blocks.fold4d([1, (1 << 27) - 1], [1, 1 << 26], options));
        let offset = image()?.expand([1, 2, HUGE + 1, 1])?;
        let padded = DeformConvOptions::new([1, 1], [HUGE / 2, 0], [1, 1], 1, 1);
        refused(image()?.deform_conv2d(offset, image()?, None, None, padded));
    }
    Ok(())
}

/// `format!` panics at some number of decimals.
#[test]
fn any_number_of_decimals_is_written() -> Result<(), Error> {
    let x = DynTensor::ones([2], DType::F64, &DynDevice::default())?.mul(-100)?;
    assert!(format!("{x:.65535}").starts_with("[-100.0000"));
    for precision in [65_535, 65_536, usize::MAX] {
        set_print_options(PrintOptions {
            threshold: 0,
            edge_items: usize::MAX,
            precision: Some(precision),
        });
        assert!(x.to_string().starts_with("[-100.0000"));
    }
    Ok(())
}

fn tensors(device: &DynDevice) -> Result<Vec<DynTensor>, Error> {
    const SHAPES: [&[usize]; 9] = [
        &[],
        &[0],
        &[1],
        &[3],
        &[2, 3],
        &[3, 0],
        &[2, 2, 4],
        &[1, 1, 1, 2],
        &[1; 7],
    ];
    let mut tensors = Vec::new();
    for dtype in [DType::F32, DType::BF16, DType::I8, DType::U64, DType::Bool] {
        if !device.dtypes().contains(&dtype) {
            continue;
        }
        for shape in SHAPES {
            tensors.push(DynTensor::ones(shape, dtype, device)?);
        }
    }
    Ok(tensors)
}

/// Calls each, and reads what it gives.
macro_rules! call {
    ($x:ident: $($call:expr;)*) => { $(
        let result: Result<_, Error> = {
            #[allow(unused_variables)]
            let $x = $x.clone();
            $call
        };
        if let Ok(y) = result {
            Given::from(y).0.into_iter().for_each(|y: DynTensor| drop(y.into_data()));
        }
    )* };
}

struct Given(Vec<DynTensor>);

impl From<DynTensor> for Given {
    fn from(x: DynTensor) -> Self {
        Given(vec![x])
    }
}

impl From<(DynTensor, DynTensor)> for Given {
    fn from((x, y): (DynTensor, DynTensor)) -> Self {
        Given(vec![x, y])
    }
}

impl From<(DynTensor, DynTensor, DynTensor)> for Given {
    fn from((x, y, z): (DynTensor, DynTensor, DynTensor)) -> Self {
        Given(vec![x, y, z])
    }
}

impl From<Vec<DynTensor>> for Given {
    fn from(all: Vec<DynTensor>) -> Self {
        Given(all)
    }
}

fn one_axis(x: &DynTensor, n: usize) {
    let (i, small) = (n as isize, n.min(9));
    call! { x:
        x.sum_dim(n); x.mean_dims(&[n, n]); x.prod_dims(&[0, n]); x.max_dim(n); x.min_dim(n); x.max_abs_dim(n); x.argmax(n);
        x.argmin(n); x.max_dim_with_indices(n); x.min_dim_with_indices(n); x.any_dim(n); x.all_dim(n); x.var(n);
        x.var_bias(n); x.var_mean(n); x.var_mean_bias(n); x.std(n); x.median(n); x.cov(n, 1); x.cov(0, n); x.cumsum(n);
        x.cumprod(n); x.cummax(n); x.cummin(n); x.reshape([n]); x.reshape([n, n]); x.reshape(vec![0, n]); x.flatten(n, n);
        x.flatten(0, n); x.flatten(n, 0); x.permute([n]); x.permute([1, n]); x.swap_dims(0, n); x.swap_dims(n, 0);
        x.movedim([n], [0]); x.movedim([0], [n]); x.movedim([0, 1], [n]); x.flip([n]); x.flip([0, 0]); x.roll_dim(i, 0);
        x.roll_dim(isize::MIN, n); x.roll(&[1, i], &[n]); x.roll(&[i, i], &[0, n]); x.narrow(n, 0, 1); x.narrow(0, n, 1);
        x.narrow(0, 1, n); x.narrow(0, n, n); x.chunk(n, 0); x.chunk(2, n); x.split(n, 0); x.split(1, n);
        x.split_with_sizes(&[n, n], 0); x.split_with_sizes(&[1, 1, 1], n); x.iter_dim(n).map(|parts| parts.collect::<Vec<_>>());
        x.repeat(&[n]); x.repeat(&[n, n]); x.repeat_dim(n, 2); x.repeat_dim(0, small); x.squeeze_dim(n); x.squeeze_dims(&[0, n]);
        x.unsqueeze(n); x.unsqueeze_dim(n); x.unsqueeze_dims(&[n, 0]); x.unsqueeze_dims(&[0; 4]);
        x.pad([(small, 0)], 1); x.pad([(0, small)], PadMode::Reflect); x.pad([(small, small); 2], PadMode::Circular);
        x.pad([(0, 1), (1, 0), (0, 0), (1, 1)], PadMode::Replicate); x.pad([(n, n)], PadMode::Reflect);
        x.triu(i as i64); x.tril(i as i64); x.slice(n..n); x.slice([i..]); x.slice([i..0, 0..i]); x.slice(s![..;i]);
        x.slice(s![0..1;-1, ..;isize::MIN]); x.slice([i, i]); x.slice([..; 9]); x.slice_dim(n, 0..1); x.slice_dim(0, i..); x.slice([isize::MAX..]); x.roll_dim(isize::MAX, 0);
        x.slice_fill([i..], 1); x.slice_fill(s![..;i], 0.5); x.slice_fill([..], true); x.sort(n); x.sort_descending(n);
        x.sort_with_indices(n); x.sort_descending_with_indices(n); x.argsort(n); x.argsort_descending(n); x.topk(n, 0);
        x.topk(1, n); x.topk_with_indices(0, n); x.one_hot(small); x.softmax(n); x.log_softmax(n); x.softmin(n);
        x.quiet_softmax(n); x.glu(n); x.l1_norm(n); x.l2_norm(n); x.lp_norm(0.0, n); x.lp_norm(f64::NAN, n);
        x.max_abs_norm(n); x.min_abs_norm(n); x.all_gather(n); x.broadcast(n); x.reduce_scatter(n, ReduceKind::Sum);
        DynTensor::stack(vec![x.clone(), x], n); DynTensor::cat(vec![x.clone(), x], n); DynTensor::cat(vec![], n);
        DynTensor::stack(vec![], n);
    }
    for dtype in [x.dtype(), DType::F32] {
        call! { x:
            DynTensor::zeros([n, n, n], dtype, &x.device()); DynTensor::full([1], f64::NAN, dtype, &x.device());
            DynTensor::full([1], i as i64, dtype, &x.device()); DynTensor::arange(i64::MIN..i64::MAX, dtype, &x.device());
            DynTensor::arange_step(-1..i as i64, n, dtype, &x.device()); DynTensor::arange_step(5..(i as i64).wrapping_sub(5), n, dtype, &x.device());
            DynTensor::linspace(0.0, f64::INFINITY, small, dtype, &x.device()); DynTensor::eye(small, dtype, &x.device());
            DynTensor::random([small], Distribution::Uniform(1.0, f64::NAN), dtype, &x.device());
            DynTensor::random([n, n, n], Distribution::Default, dtype, &x.device());
            DynTensor::random([small], Distribution::Normal(0.0, -1.0), dtype, &x.device());
            DynTensor::random([small], Distribution::Bernoulli(2.0), dtype, &x.device());
        }
    }
}

fn one_tensor(x: &DynTensor) {
    call! { x:
        x.neg(); x.abs(); x.sign(); x.exp(); x.log2(); x.sqrt(); x.square(); x.recip(); x.erf(); x.round(); x.bitwise_not();
        x.bool_not(); x.is_nan(); x.is_finite(); x.contains_nan(); x.sum(); x.mean(); x.prod(); x.max(); x.min(); x.max_abs();
        x.any(); x.all(); x.argwhere(); x.nonzero(); x.squeeze(); x.transpose(); x.t(); x.diag(); x.trace(); x.float(); x.int();
        x.bool(); x.gelu(); x.elu(f64::NAN); x.celu(0.0); x.selu(); x.leaky_relu(f64::INFINITY); x.softplus(0.0); x.mish();
        x.det(); x.lu(); x.qr(true); x.qr(false); x.cholesky(true); x.svd(true); x.vector_norm_dims(f64::NAN, &[]);
        x.lp_norm_dims(-1.5, &[0, 1]); x.lp_norm(0.0, 0); x.vector_normalize(-1, 0, f64::INFINITY);
        DynTensor::einsum("...ii", vec![x]); DynTensor::einsum("i...->...", vec![x]); DynTensor::einsum("", vec![x]);
        x.hard_swish(); x.log_sigmoid(); x.softsign(); x.clamp(2, 1); x.clamp_min(f64::NAN); x.clamp_max(-1); x.add(1.5);
        x.sub(u64::MAX); x.div(0); x.remainder(0); x.fmod(0); x.powi(-1); x.powf(0.5); x.bitwise_left_shift(99);
        x.equal(true); x.lower(f64::NAN); x.layer_norm(None, None, -1.0); x.layer_norm(None, None, 1e-5);
        x.require_grad().and_then(DynTensor::backward).map(|_| Vec::new());
        x.all_reduce(ReduceKind::Mean); x.set_distributed_params("x");
    }
    let _ = (x.clone().into_scalar(), x.clone().into_vec::<i16>());
}

fn two_tensors(x: &DynTensor, y: &DynTensor) {
    let (z, y) = (|| x.clone(), || y.clone());
    call! { x:
        x.add(y()); x.fmod(y()); x.powi(y()); x.equal(y()); x.lower(y()); x.bool_and(y()); x.bitwise_xor(y());
        x.mask_where(y(), 1); x.mask_where(y(), z()); x.mask_fill(y(), 0.5); x.mask_select(y()); x.gather(0, y());
        x.scatter(1, y(), z(), ScatterMode::Add); x.scatter(0, y(), y(), ScatterMode::Set); x.select(0, y());
        x.select_assign(0, y(), z(), ScatterMode::Max); x.select_assign(1, y(), y(), ScatterMode::Set); x.take(0, y());
        x.take(9, y()); x.slice_assign(0..1, y()); x.matmul(y()); x.dot(y()); x.outer(y()); x.matvec(y()); x.cross(y(), 1);
        x.solve(y()); DynTensor::einsum("i...,j...->...", vec![x, y()]); DynTensor::einsum("ij,jk", vec![x, y()]);
        x.linear(y(), Some(y()));
        x.embedding(y()); x.prelu(y()); x.mse(y()); x.huber(y(), 0.0); x.smooth_l1(y(), 1.0); x.kl_div(y());
        x.binary_cross_entropy_with_logits(y()); x.cross_entropy(y()); x.nll(y()); x.layer_norm(Some(y()), Some(y()), 1e-5);
        x.cosine_similarity(y(), 0, Some(f64::NAN)); x.is_close(y(), None, Some(f64::NAN)); x.expand(y().shape().clone());
        x.attention(y(), y(), Some(y()), Some(y()), Default::default());
        DynTensor::cat(vec![x, y()], 0); DynTensor::stack(vec![x, y()], 0);
    }
    for n in [0, 1, usize::MAX] {
        let options = ConvOptions {
            stride: [1, n][..].into(),
            padding: [(n, n), (0, 1)][..].into(),
            dilation: [n, 1][..].into(),
            groups: n,
        };
        let transposed = |n| ConvTransposeOptions {
            conv: options.clone(),
            padding_out: [n, 0][..].into(),
        };
        let pool = |axes: usize| PoolOptions {
            kernel: [n, 2][..axes].into(),
            stride: [1, n][..axes].into(),
            padding: [(0, n), (n, 0)][..axes].into(),
            dilation: [1, n][..axes].into(),
            count_include_pad: false,
        };
        call! { x:
            x.conv(y(), None, options.clone()); x.conv(y(), Some(y()), ConvOptions::new(1)); x.conv(y(), None, ConvOptions::new(2));
            x.conv_transpose(y(), None, transposed(n)); x.conv_transpose(y(), Some(y()), ConvOptions::new(1));
            x.conv_weight_backward(y(), z(), options.clone()); x.conv_weight_backward(y(), y(), ConvOptions::new(2));
            x.deform_conv2d(y(), y(), Some(y()), Some(y()), DeformConvOptions::new([1, n], [n, 0], [n, 1], 1, n));
            x.max_pool(pool(1)); x.max_pool_with_indices(pool(2)); x.avg_pool(pool(1)); x.avg_pool(pool(2));
            x.max_pool(MaxPoolOptions::new([n]).with_ceil_mode(true)); x.avg_pool(AvgPoolOptions::new([1, n]).with_ceil_mode(true));
            x.max_pool(MaxPoolOptions::new([2, 2]).with_stride([n, 1]).with_padding([n, 1]).with_ceil_mode(true));
            x.avg_pool(AvgPoolOptions::new([n, 2]).with_stride([2, n]).with_padding([1, n]).with_ceil_mode(true));
            x.avg_pool_backward(y(), pool(1)); x.avg_pool_backward(y(), AvgPoolOptions::new([2, n]).with_ceil_mode(true));
            x.max_pool_with_indices_backward(pool(2), y(), y()); x.max_pool_with_indices_backward(pool(1), z(), y());
            x.adaptive_avg_pool(&[]); x.adaptive_avg_pool(&[n]); x.adaptive_avg_pool(&[n, 3]); x.adaptive_avg_pool(&[2, n, n]);
            x.unfold(n, 1, 1); x.unfold(0, n, 1); x.unfold(0, 1, n); x.unfold(0, n, n); x.unfold(0, 0, 1);
            x.unfold4d([n, 1], UnfoldOptions::default()); x.unfold4d([1, 1], UnfoldOptions::new([1, n], [n, 0], [n, 1]));
            x.fold4d([n, n], [1, 1], UnfoldOptions::default()); x.fold4d([2, n], [n, 1], UnfoldOptions::new([n, 1], [n, n], [n, 1]));
            x.interpolate(InterpolateOptions::new(InterpolateMode::Bilinear).with_output_size([n, 2]));
            x.interpolate(InterpolateOptions::new(InterpolateMode::Lanczos3).with_scale_factor([n as f64, f64::NAN]));
            x.interpolate(InterpolateOptions::new(InterpolateMode::Bicubic).with_output_size([2, 3]).with_coordinate_transform(CoordinateTransformMode::TfCropAndResize { roi: [[f64::NAN, 0.0]; 2], extrapolation_value: 0.5 }));
            x.interpolate(InterpolateOptions::new(InterpolateMode::Nearest)); x.affine_grid_2d([n, 1, n, n]); x.affine_grid_2d([2, 1, 2, n]);
            x.grid_sample_2d(y(), InterpolateMode::Bilinear); x.grid_sample_2d(y(), InterpolateMode::Lanczos3);
            x.batch_norm(y(), y(), y(), y(), n as f64 - 1.0); x.batch_norm_train(y(), y(), 1e-5).map(|(y, mean, variance)| vec![y, mean, variance]);
            DynTensor::meshgrid(&[x.clone(), y()], keyway::raw::GridSparsity::Sparse); DynTensor::meshgrid_stack(&[x, y()], keyway::raw::IndexPos::Last);
        }
    }
}
