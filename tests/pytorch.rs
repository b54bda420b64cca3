//! Values and gradients of PyTorch, which `tests/reference/generate.py` wrote to `cases.txt`, from every backend and
//! through `Dyn`. NaN and infinities must be of the same class at the same place; integers and truth values are equal;
//! floats are within [`tolerance`].

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::str::FromStr;

use keyway::nn::{BatchNorm, Buffer, Param};
use keyway::op::{self, ConvOptions, PadMode, ScatterMode};
use keyway::prelude::*;
use keyway::raw::{
    AttentionModuleOptions, CausalAlignment, ConvTransposeOptions, DeformConvOptions, GridIndexing,
    GridSampleOptions, GridSamplePaddingMode, InterpolateMode, InterpolateOptions, PoolOptions, Raw,
    UnfoldOptions,
};
use keyway::signal::StftOptions;
use keyway::{DType, Dyn, DynDevice, Scalar};

#[test]
fn flex() {
    check::<Flex>(&Default::default());
}

#[cfg(feature = "candle")]
#[test]
fn candle() {
    check::<Candle>(&Default::default());
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray() {
    check::<NdArray>(&Default::default());
}

#[cfg(feature = "tch")]
#[test]
fn tch() {
    check::<LibTorch>(&Default::default());
}

#[test]
fn dynamic() {
    for found in DynDevice::available() {
        // One member of a group is a backend like any other.
        let name = found.text.strip_suffix(":2").unwrap_or(&found.text);
        check::<Dyn>(&name.parse().unwrap());
    }
}

/// Every function has a case, and every case a function.
#[test]
fn complete() {
    let cases = cases();
    assert!(cases.len() >= 300, "{} cases", cases.len());
    let tested: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    let named: BTreeSet<&str> = NAMES.iter().copied().collect();
    assert_eq!(NAMES.len(), named.len(), "a function stands twice in the table");
    assert_eq!(tested, named);
}

/// What differs on purpose: of a case, what it gives, at which places, and why.
const DIFFERENCES: &[(&str, &str, &[usize], &str)] = &[
    ("sign 2", "output 0", &[0], SIGN),
    ("abs 2", "gradient 0", &[0], SIGN),
    ("l1_norm 4", "gradient 0", &[0], SIGN),
    ("max_abs_norm 4", "gradient 0", &[0, 1], SIGN),
    ("min_abs_norm 4", "gradient 0", &[0, 1], SIGN),
    ("l1 4", "gradient 0", &[4], SIGN),
    ("l1 4", "gradient 1", &[4], SIGN),
    ("clamp 2", "gradient 0", &[0], CLAMP),
    ("clamp_min 0", "gradient 0", &[0], CLAMP),
    ("clamp_min 1", "gradient 0", &[0], CLAMP),
    ("clamp_max 0", "gradient 0", &[0], CLAMP),
    ("clamp_max 1", "gradient 0", &[0], CLAMP),
    ("hard_sigmoid 1", "gradient 0", &[0, 7, 8], KINK),
    ("hard_swish 1", "gradient 0", &[0, 7, 8], KINK),
    ("hardtanh 2", "gradient 0", &[0, 5, 6], KINK),
    ("hardtanh 4", "gradient 0", &[0], CLAMP),
    ("relu6 2", "gradient 0", &[0], CLAMP),
    ("hard_shrink 2", "gradient 0", &[0], CLAMP),
    ("hard_shrink 4", "gradient 0", &[0], CLAMP),
    ("soft_shrink 2", "gradient 0", &[0], CLAMP),
    ("soft_shrink 4", "gradient 0", &[0], CLAMP),
    ("scatter 8", "gradient 0", &[2], FACTORS),
    ("acosh 2", "gradient 0", &[2, 6, 11, 16, 18], ACOSH),
    ("powf_scalar 9", "output 0", &[2], ROOT),
    ("powf_scalar 9", "gradient 0", &[2, 4], ROOT),
];
const SIGN: &str = "the sign of NaN is NaN, where PyTorch's is 0";
const CLAMP: &str = "a NaN that is let through has the gradient of what is let through";
const KINK: &str =
    "at a kink and NaN the gradient is that of `clamp`; where there are two sides, that of either is right";
const FACTORS: &str =
    "the gradient of a factor is the product of the others, where PyTorch divides by it, here by NaN";
const ACOSH: &str = "where there is no value there is no gradient";
const ROOT: &str = "x^0.5 is IEEE 754's power, where PyTorch takes the square root: they differ at -∞ and -0";

/// A tensor that may be tracked.
type X<B> = Raw<Autodiff<B>>;

/// Defines `call`, which finds a function by its name, and `NAMES`. A row binds the inputs, each or as a list; rows of
/// one pattern are but a name.
macro_rules! functions {
    (
        |$args:ident, $device:ident|
        unary { $($unary:ident)* }
        binary { $($binary:ident)* }
        along { $($along:ident)* }
        loss { $($loss:ident($($param:literal)?))* }
        other { $($name:ident $inputs:tt => $body:expr;)* }
    ) => {
        const NAMES: &[&str] = &[
            $(stringify!($unary),)* $(stringify!($binary),)* $(stringify!($along),)* $(stringify!($loss),)*
            $(stringify!($name),)*
        ];

        fn call<B: PlainBackend + Readable>(
            name: &str,
            $args: &Args,
            inputs: Vec<X<B>>,
            $device: &B::Device,
        ) -> Result<Vec<X<B>>, Error> {
            match name {
                $(stringify!($unary) => with(inputs, |[x]| x.$unary()),)*
                $(stringify!($binary) => with(inputs, |[x, y]| x.$binary(y)),)*
                $(stringify!($along) => with(inputs, |[x]| x.$along($args.get("dim"))),)*
                $(stringify!($loss) => with(inputs, |[x, target]| {
                    reduce(x.$loss(target $(, $args.get($param))?)?, $args.text("reduction"))
                }),)*
                $(stringify!($name) => functions!(@ inputs $inputs $body),)*
                _ => panic!("no function `{name}`"),
            }
        }
    };
    (@ $list:ident ($($x:ident),*) $body:expr) => { with($list, |[$($x),*]| $body) };
    (@ $list:ident [$xs:ident] $body:expr) => { (|$xs: Vec<X<B>>| $body)($list).map(Outputs::list) };
}

functions! {
    |a, device|
    unary {
        neg abs sign exp expm1 log log1p log2 log10 sqrt square recip sin cos tan asin acos atan sinh cosh tanh asinh acosh
        atanh erf sigmoid relu floor ceil round trunc bitwise_not bool_not is_nan is_inf is_finite contains_nan
        gelu gelu_approximate silu selu log_sigmoid mish hard_swish softsign relu6 tanhshrink deg2rad rad2deg
        sum mean prod max min any all max_abs trace det lu transpose t squeeze diag argwhere nonzero
    }
    binary {
        add sub mul div remainder fmod powf powi max_pair min_pair atan2 hypot
        bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
        equal not_equal lower lower_equal greater greater_equal bool_and bool_or bool_xor
        cross_entropy_with_logits gather_nd prelu matmul matvec dot outer solve embedding mask_select
    }
    along {
        sum_dim mean_dim prod_dim max_dim min_dim any_dim all_dim max_abs_dim argmax argmin
        max_dim_with_indices min_dim_with_indices var var_bias var_mean var_mean_bias std median median_with_indices
        cumsum cumprod cummax cummin
        sort sort_descending argsort argsort_descending sort_with_indices sort_descending_with_indices
        softmax log_softmax softmin quiet_softmax glu
        l0_norm l1_norm l2_norm max_abs_norm min_abs_norm
        squeeze_dim unsqueeze_dim
    }
    loss {
        mse() l1() huber("delta") smooth_l1("beta") binary_cross_entropy_with_logits() kl_div() cross_entropy() nll()
    }
    other {
        add_scalar(x) => x.add(a.scalar("value"));
        sub_scalar(x) => x.sub(a.scalar("value"));
        mul_scalar(x) => x.mul(a.scalar("value"));
        div_scalar(x) => x.div(a.scalar("value"));
        remainder_scalar(x) => x.remainder(a.scalar("value"));
        fmod_scalar(x) => x.fmod(a.scalar("value"));
        powf_scalar(x) => x.powf(a.scalar("value"));
        max_pair_scalar(x) => x.max_pair(a.scalar("value"));
        min_pair_scalar(x) => x.min_pair(a.scalar("value"));
        clamp(x) => x.clamp(a.scalar("min"), a.scalar("max"));
        clamp_min(x) => x.clamp_min(a.scalar("min"));
        clamp_max(x) => x.clamp_max(a.scalar("max"));
        round_to(x) => x.round_to(a.get("decimals"));
        is_close(x, y) => x.is_close(y, a.option("rtol"), a.option("atol"));
        mask_where(x, mask, y) => x.mask_where(mask, y);
        mask_fill(x, mask) => x.mask_fill(mask, a.scalar("value"));
        cast(x) => x.cast(a.dtype("to"));

        sum_dims(x) => x.sum_dims(&a.list("dims"));
        mean_dims(x) => x.mean_dims(&a.list("dims"));
        prod_dims(x) => x.prod_dims(&a.list("dims"));
        max_dims(x) => x.max_dims(&a.list("dims"));
        min_dims(x) => x.min_dims(&a.list("dims"));
        max_abs_dims(x) => x.max_abs_dims(&a.list("dims"));
        sum_dims_squeeze(x) => x.sum_dims_squeeze(&a.list("dims"));
        cov(x) => x.cov(a.get("dim"), a.get("correction"));
        topk(x) => x.topk(a.get("k"), a.get("dim"));
        topk_with_indices(x) => x.topk_with_indices(a.get("k"), a.get("dim"));

        argtopk(x) => x.argtopk(a.get("k"), a.get("dim"));

        gather(x, index) => x.gather(a.get("dim"), index);
        select(x, index) => x.select(a.get("dim"), index);
        take(x, index) => x.take(a.get("dim"), index);
        scatter(x, index, values) => x.scatter(a.get("dim"), index, values, a.mode());
        select_assign(x, index, values) => x.select_assign(a.get("dim"), index, values, a.mode());
        select_dim(x) => x.select_dim(a.get("dim"), a.get("index"));
        scatter_nd(x, index, values) => x.scatter_nd(index, values, a.mode());
        one_hot(x) => x.one_hot(a.get("classes"));
        one_hot_fill(x) => x.one_hot_fill(a.get("classes"), a.scalar("on"), a.scalar("off"), a.get("dim"));
        slice(x) => x.slice(&a.slices()[..]);
        slice_dim(x) => x.slice_dim(a.get("dim"), Slice::new(a.get("start"), a.option("end"), a.get("step")));
        slice_assign(x, values) => x.slice_assign(&a.slices()[..], values);
        slice_fill(x) => x.slice_fill(&a.slices()[..], a.scalar("value"));

        reshape(x) => x.reshape(a.list("shape"));
        permute(x) => x.permute(a.list("dims"));
        swap_dims(x) => x.swap_dims(a.get("a"), a.get("b"));
        movedim(x) => x.movedim(a.list("src"), a.list("dst"));
        squeeze_dims(x) => x.squeeze_dims(&a.list("dims"));
        unsqueeze_dims(x) => x.unsqueeze_dims(&a.list("dims"));
        expand(x) => x.expand(a.list("shape"));
        narrow(x) => x.narrow(a.get("dim"), a.get("start"), a.get("len"));
        flip(x) => x.flip(a.list("dims"));
        roll(x) => x.roll(&a.list("shifts"), &a.list("dims"));
        roll_dim(x) => x.roll_dim(a.get("shift"), a.get("dim"));
        repeat(x) => x.repeat(&a.list("times"));
        repeat_dim(x) => x.repeat_dim(a.get("dim"), a.get("times"));
        pad(x) => x.pad(a.sides(), a.pad_mode());
        cat[xs] => Raw::cat(xs, a.get("dim"));
        stack[xs] => Raw::stack(xs, a.get("dim"));
        split(x) => x.split(a.get("size"), a.get("dim"));
        split_with_sizes(x) => x.split_with_sizes(&a.list("sizes"), a.get("dim"));
        chunk(x) => x.chunk(a.get("chunks"), a.get("dim"));
        flatten(x) => x.flatten(a.get("start"), a.get("end"));
        triu(x) => x.triu(a.get("diagonal"));
        tril(x) => x.tril(a.get("diagonal"));

        triu_mask() => X::<B>::triu_mask(a.list::<usize>("shape"), a.get("offset"), device);
        tril_mask() => X::<B>::tril_mask(a.list::<usize>("shape"), a.get("offset"), device);
        diag_mask() => X::<B>::diag_mask(a.list::<usize>("shape"), a.get("offset"), device);
        arange_step() => X::<B>::arange_step(a.get("start")..a.get("end"), a.get("step"), a.dtype("dtype"), device);
        linspace() => X::<B>::linspace(a.get("start"), a.get("end"), a.get("len"), a.dtype("dtype"), device);
        eye() => X::<B>::eye(a.get("size"), a.dtype("dtype"), device);

        linear[xs] => {
            let [x, weight, bias] = some(xs);
            needed(x).linear(needed(weight), bias)
        };
        outer_dim(x, y) => x.outer_dim(y, a.get("dim"));
        cross(x, y) => x.cross(y, a.get("dim"));
        lp_norm(x) => x.lp_norm(a.get("p"), a.get("dim"));
        vector_norm_dims(x) => x.vector_norm_dims(a.get::<f64>("p"), &a.list("dims"));
        vector_normalize(x) => x.vector_normalize(a.get::<f64>("p"), a.get("dim"), a.get("eps"));
        cosine_similarity(x, y) => x.cosine_similarity(y, a.get("dim"), a.option("eps"));

        qr(x) => x.qr(a.get("reduced"));
        cholesky(x) => {
            let rows = x.shape()[x.rank() - 2];
            let one = Raw::eye(rows, x.dtype(), device)?.unsqueeze(x.rank())?;
            x.clone().matmul(x.transpose()?)?.add(one)?.cholesky(a.get("upper"))
        };
        svd(x) => {
            let (u, s, vt) = x.svd(a.get("full"))?;
            Ok((u.abs()?, s, vt.abs()?))
        };
        einsum[xs] => Raw::einsum(a.text("equation"), xs);

        conv[xs] => {
            let [x, weight, bias] = some(xs);
            needed(x).conv(needed(weight), bias, a.conv_options())
        };
        conv_transpose[xs] => {
            let [x, weight, bias] = some(xs);
            let options = ConvTransposeOptions { conv: a.conv_options(), padding_out: a.list("padding_out").into() };
            needed(x).conv_transpose(needed(weight), bias, options)
        };
        conv_weight_backward(x, weight, grad) => x.conv_weight_backward(weight, grad, a.conv_options());
        deform_conv2d[xs] => {
            let mut xs = xs.into_iter();
            let mut next = |given: bool| given.then(|| xs.next()).flatten();
            let [x, offset, weight] = [true; 3].map(|given| needed(next(given)));
            let (mask, bias) = (next(a.get("mask")), next(a.get("bias")));
            let [stride, padding, dilation] = ["stride", "padding", "dilation"].map(|key| a.pair(key));
            let (groups, offsets) = (a.get("groups"), a.get("offset_groups"));
            x.deform_conv2d(offset, weight, mask, bias, DeformConvOptions::new(stride, padding, dilation, groups, offsets))
        };
        max_pool(x) => x.max_pool(a.pool_options());
        max_pool_with_indices(x) => x.max_pool_with_indices(a.pool_options());
        max_pool_with_indices_backward(x, grad, indices) => {
            x.max_pool_with_indices_backward(a.pool_options(), grad, indices)
        };
        avg_pool(x) => x.avg_pool(a.pool_options());
        avg_pool_backward(x, grad) => x.avg_pool_backward(grad, a.pool_options());
        adaptive_avg_pool(x) => x.adaptive_avg_pool(&a.list("size"));

        unfold(x) => x.unfold(a.get("dim"), a.get("size"), a.get("step"));
        unfold4d(x) => x.unfold4d(a.pair("kernel"), a.unfold_options());
        fold4d(x) => x.fold4d(a.pair("size"), a.pair("kernel"), a.unfold_options());
        interpolate(x) => x.interpolate(a.interpolate_options());
        grid_sample_2d(x, grid) => x.grid_sample_2d(grid, a.grid_sample_options());
        affine_grid_2d(maps) => {
            let dims: [usize; 4] = a.list("dims").try_into().expect("4 sizes");
            maps.affine_grid_2d(dims)
        };
        meshgrid[xs] => {
            let indexing = if a.text("indexing") == "xy" { GridIndexing::Cartesian } else { GridIndexing::Matrix };
            X::<B>::meshgrid(&xs, indexing)
        };
        cartesian_grid() => X::<B>::cartesian_grid(a.list("shape"), a.dtype("dtype"), device);

        leaky_relu(x) => x.leaky_relu(a.get("slope"));
        elu(x) => x.elu(a.get("alpha"));
        celu(x) => x.celu(a.get("alpha"));
        softplus(x) => x.softplus(a.get("beta"));
        softplus_with_threshold(x) => x.softplus_with_threshold(a.get("beta"), a.get("threshold"));
        hardtanh(x) => x.hardtanh(a.get("min_val"), a.get("max_val"));
        threshold(x) => x.threshold(a.get("threshold"), a.get("value"));
        thresholded_relu(x) => x.thresholded_relu(a.get("alpha"));
        hard_shrink(x) => x.hard_shrink(a.get("lambd"));
        soft_shrink(x) => x.soft_shrink(a.get("lambd"));
        hard_sigmoid(x) => x.hard_sigmoid(1.0 / 6.0, 0.5);

        ctc_loss(x, targets, steps, lengths) => {
            x.log_softmax(2)?.ctc_loss(targets, steps, lengths, a.get("blank"))
        };

        layer_norm[xs] => {
            let [x, weight, bias] = some(xs);
            needed(x).layer_norm(weight, bias, a.get("eps"))
        };
        batch_norm(x, weight, bias, mean, var) => x.batch_norm(weight, bias, mean, var, a.get("eps"));
        batch_norm_train(x, weight, bias) => {
            x.batch_norm_train(weight, bias, a.get("eps")).map(|(y, mean, var)| vec![y, mean, var])
        };
        batch_norm_layer(x, mean, var, weight, bias) => {
            let double = x.dtype() == DType::F64;
            let run = match (double, x.rank()) {
                (true, 2) => batch_norm_layer::<B, 2, f64>,
                (true, _) => batch_norm_layer::<B, 4, f64>,
                (false, _) => batch_norm_layer::<B, 4, f32>,
            };
            run(a, x, [mean, var], [weight, bias])
        };
        attention[xs] => {
            let mut xs = xs.into_iter();
            let mut next = |given: bool| given.then(|| xs.next()).flatten();
            let [q, k, v] = [true; 3].map(|given| needed(next(given)));
            let (mask, bias) = (next(a.get("mask")), next(a.get("bias")));
            let causal_alignment = match a.find("top_left") {
                Some(_) => CausalAlignment::TopLeft,
                None => CausalAlignment::BottomRight,
            };
            let (scale, softcap) = (a.option("scale"), a.option("softcap"));
            let options = AttentionModuleOptions { scale, softcap, is_causal: a.get("causal"), causal_alignment };
            q.attention(k, v, mask, bias, options)
        };

        rfft(x) => x.rfft(a.get("dim"), a.option("n"));
        irfft(re, im) => re.irfft(im, a.get("dim"), a.option("n"));
        cfft(re, im) => re.cfft(im, a.get("dim"), a.option("n"));
        ifft(re, im) => re.ifft(im, a.get("dim"), a.option("n"));
        stft[xs] => {
            let [x, window] = some(xs);
            needed(x).stft(window, a.stft_options())
        };
        istft[xs] => {
            let [x, window] = some(xs);
            needed(x).istft(window, a.option("length"), a.stft_options())
        };
        hann_window() => Raw::hann_window(a.get("size"), a.get("periodic"), a.dtype("dtype"), device);
        hamming_window() => Raw::hamming_window(a.get("size"), a.get("periodic"), a.dtype("dtype"), device);
        blackman_window() => Raw::blackman_window(a.get("size"), a.get("periodic"), a.dtype("dtype"), device);
    }
}

/// While training the layer also gives the running statistics after the call.
fn batch_norm_layer<B: PlainBackend + Readable, const D: usize, E: FloatElement>(
    a: &Args,
    x: X<B>,
    [mean, var]: [X<B>; 2],
    [weight, bias]: [X<B>; 2],
) -> Result<Vec<X<B>>, Error> {
    let layer: BatchNorm<Autodiff<B>, E> = BatchNorm {
        weight: Param::new(Tensor::try_from_raw(weight)?),
        bias: Param::new(Tensor::try_from_raw(bias)?),
        running_mean: Buffer::new(Tensor::try_from_raw(mean)?),
        running_var: Buffer::new(Tensor::try_from_raw(var)?),
        epsilon: a.get("eps"),
        momentum: a.get("momentum"),
    };
    let x = Tensor::<_, D, E>::try_from_raw(x)?;
    let y = if a.get("training") {
        layer.forward(x)
    } else {
        Tensor::from_inner(layer.valid().forward(x.inner()))
    };
    let statistics = [&layer.running_mean, &layer.running_var].map(|buffer| buffer.val().into_raw());
    Ok([y.into_raw()].into_iter().chain(statistics).collect())
}

fn reduce<B: PlainBackend>(losses: X<B>, reduction: &str) -> Result<X<B>, Error> {
    match reduction {
        "mean" => losses.mean(),
        "sum" => losses.sum(),
        _ => Ok(losses),
    }
}

/// A function of `N` inputs.
fn with<B: PlainBackend, const N: usize, O: Outputs<B>>(
    inputs: Vec<X<B>>,
    f: impl FnOnce([X<B>; N]) -> Result<O, Error>,
) -> Result<Vec<X<B>>, Error> {
    let inputs = inputs
        .try_into()
        .expect("the function has another number of inputs");
    f(inputs).map(O::list)
}

/// The inputs, of which the last may be missing.
fn some<T, const N: usize>(inputs: Vec<T>) -> [Option<T>; N] {
    let mut inputs = inputs.into_iter();
    std::array::from_fn(|_| inputs.next())
}

fn needed<T>(input: Option<T>) -> T {
    input.expect("an input is missing")
}

/// What functions give.
trait Outputs<B: PlainBackend> {
    fn list(self) -> Vec<X<B>>;
}
impl<B: PlainBackend> Outputs<B> for X<B> {
    fn list(self) -> Vec<X<B>> {
        vec![self]
    }
}
impl<B: PlainBackend> Outputs<B> for (X<B>, X<B>) {
    fn list(self) -> Vec<X<B>> {
        vec![self.0, self.1]
    }
}
impl<B: PlainBackend> Outputs<B> for (X<B>, X<B>, X<B>) {
    fn list(self) -> Vec<X<B>> {
        vec![self.0, self.1, self.2]
    }
}
impl<B: PlainBackend> Outputs<B> for Vec<X<B>> {
    fn list(self) -> Vec<X<B>> {
        self
    }
}

/// The arguments of a case that are no tensors.
struct Args(Vec<(&'static str, &'static str)>);

impl Args {
    fn find(&self, key: &str) -> Option<&'static str> {
        self.0
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
    }

    fn text(&self, key: &str) -> &'static str {
        self.find(key)
            .unwrap_or_else(|| panic!("the case has no `{key}`"))
    }

    fn get<T: FromStr<Err: Debug>>(&self, key: &str) -> T {
        parse(self.text(key))
    }

    fn option<T: FromStr<Err: Debug>>(&self, key: &str) -> Option<T> {
        self.find(key).map(parse)
    }

    fn list<T: FromStr<Err: Debug>>(&self, key: &str) -> Vec<T> {
        self.text(key).split(',').map(parse).collect()
    }

    fn scalar(&self, key: &str) -> Scalar {
        match self.text(key).parse() {
            Ok(int) => Scalar::Int(int),
            Err(_) => Scalar::Float(self.get(key)),
        }
    }

    fn dtype(&self, key: &str) -> DType {
        dtype(self.text(key))
    }

    fn mode(&self) -> ScatterMode {
        match self.text("mode") {
            "set" => ScatterMode::Set,
            "add" => ScatterMode::Add,
            "prod" => ScatterMode::Mul,
            "max" => ScatterMode::Max,
            "min" => ScatterMode::Min,
            other => panic!("no mode `{other}`"),
        }
    }

    fn pad_mode(&self) -> PadMode {
        match self.text("mode") {
            "constant" => PadMode::Constant(self.scalar("value")),
            "reflect" => PadMode::Reflect,
            "replicate" => PadMode::Replicate,
            "circular" => PadMode::Circular,
            other => panic!("no mode `{other}`"),
        }
    }

    fn sides(&self) -> Vec<(usize, usize)> {
        self.list("before").into_iter().zip(self.list("after")).collect()
    }

    fn slices(&self) -> Vec<Slice> {
        let (starts, ends) = (self.list("starts"), self.list("ends"));
        let ranges = starts.into_iter().zip(ends).zip(self.list("steps"));
        ranges
            .map(|((start, end), step)| Slice::new(start, Some(end), step))
            .collect()
    }

    fn conv_options(&self) -> ConvOptions {
        let padding: Vec<usize> = self.list("padding");
        ConvOptions {
            stride: self.list("stride").into(),
            padding: padding.into_iter().map(|n| (n, n)).collect(),
            dilation: self.list("dilation").into(),
            groups: self.get("groups"),
        }
    }

    fn stft_options(&self) -> StftOptions {
        StftOptions {
            n_fft: self.get("n_fft"),
            hop_length: self.get("hop"),
            win_length: self.option("win"),
            center: self.get("center"),
            onesided: self.get("onesided"),
        }
    }

    fn pool_options(&self) -> PoolOptions {
        let windows = op::PoolOptions::new(self.list("kernel"));
        let padding: Vec<usize> = self.list("padding");
        let windows = op::PoolOptions {
            stride: self.list("stride").into(),
            padding: padding.into_iter().map(|n| (n, n)).collect(),
            dilation: match self.find("dilation") {
                Some(_) => self.list("dilation").into(),
                None => windows.dilation,
            },
            count_include_pad: self.option("include").unwrap_or(true),
            ..windows
        };
        PoolOptions {
            windows,
            ceil_mode: self.option("ceil").unwrap_or(false),
        }
    }

    /// A number for the height and one for the width.
    fn pair<T: FromStr<Err: Debug>>(&self, key: &str) -> [T; 2] {
        let Ok(pair) = self.list(key).try_into() else {
            panic!("`{key}` is no pair")
        };
        pair
    }

    fn unfold_options(&self) -> UnfoldOptions {
        let [stride, padding, dilation] = ["stride", "padding", "dilation"].map(|key| self.pair(key));
        UnfoldOptions::new(stride, padding, dilation)
    }

    fn sampling(&self) -> InterpolateMode {
        match self.text("mode") {
            "nearest" => InterpolateMode::Nearest,
            "nearest-exact" => InterpolateMode::NearestExact,
            "bilinear" => InterpolateMode::Bilinear,
            "bicubic" => InterpolateMode::Bicubic,
            other => panic!("no mode `{other}`"),
        }
    }

    fn interpolate_options(&self) -> InterpolateOptions {
        let align = self.option("align").unwrap_or(false);
        let options = InterpolateOptions::new(self.sampling()).with_align_corners(align);
        match self.find("size") {
            Some(_) => options.with_output_size(self.pair("size")),
            None => options.with_scale_factor(self.pair("scale")),
        }
    }

    fn grid_sample_options(&self) -> GridSampleOptions {
        let outside = match self.text("padding") {
            "zeros" => GridSamplePaddingMode::Zeros,
            "border" => GridSamplePaddingMode::Border,
            "reflection" => GridSamplePaddingMode::Reflection,
            other => panic!("no padding `{other}`"),
        };
        let options = GridSampleOptions::new(self.sampling());
        options
            .with_padding_mode(outside)
            .with_align_corners(self.get("align"))
    }
}

fn parse<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("`{text}`: {error:?}"))
}

fn dtype(name: &str) -> DType {
    let found = DType::ALL.iter().find(|dtype| dtype.to_string() == name);
    *found.unwrap_or_else(|| panic!("no element type `{name}`"))
}

/// A function, what it is called with, and what it gives.
struct Case {
    /// The name and a number.
    id: String,
    name: &'static str,
    args: Args,
    inputs: Vec<TensorData>,
    outputs: Vec<TensorData>,
    /// Of those inputs that have one.
    gradients: Vec<(usize, TensorData)>,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = vec![];
    for line in include_str!("reference/cases.txt").lines() {
        let mut words = line.split(' ');
        match needed(words.next()) {
            "#" => {}
            "case" => {
                let name = needed(words.next());
                cases.push(Case {
                    id: format!("{name} {}", needed(words.next())),
                    name,
                    args: Args(words.map(|word| word.split_once('=').unwrap()).collect()),
                    inputs: vec![],
                    outputs: vec![],
                    gradients: vec![],
                });
            }
            kind => {
                let case = needed(cases.last_mut());
                match kind {
                    "in" => case.inputs.push(data(words)),
                    "out" => case.outputs.push(data(words)),
                    "grad" => case.gradients.push((parse(needed(words.next())), data(words))),
                    other => panic!("no line begins with `{other}`"),
                }
            }
        }
    }
    cases
}

/// `DTYPE SHAPE: VALUES`
fn data<'a>(mut words: impl Iterator<Item = &'a str>) -> TensorData {
    let dtype = dtype(needed(words.next()));
    let shape = needed(words.next()).trim_end_matches(':');
    let shape: Vec<usize> = shape
        .split(',')
        .filter(|size| !size.is_empty())
        .map(parse)
        .collect();
    let values = words.filter(|word| !word.is_empty());
    let data = if dtype.is_float() {
        TensorData::new(values.map(parse::<f64>).collect(), shape)
    } else {
        TensorData::new(values.map(parse::<i64>).collect(), shape)
    };
    data.unwrap().cast(dtype)
}

fn check<B: PlainBackend + Readable>(device: &B::Device) {
    let mut failures = vec![];
    let mut noted: Vec<_> = DIFFERENCES.iter().collect();
    let held = |data: &TensorData| B::dtypes(device).contains(&data.dtype());
    for case in cases() {
        if !case.inputs.iter().chain(&case.outputs).all(held) {
            continue;
        }
        let results = match case.results::<B>(device) {
            Ok(results) => results,
            Err(error) => {
                failures.push(format!("{}: {error}", case.id));
                continue;
            }
        };
        for (part, want, got) in results {
            let places = differences(&want, &got);
            match noted
                .iter()
                .position(|(id, of, ..)| *id == case.id && *of == part)
            {
                Some(i) if noted[i].2 == places => drop(noted.remove(i)),
                None if places.is_empty() => {}
                _ => failures.push(format!(
                    "{}, {part}, at {places:?}: {got:?}\n  not {want:?}",
                    case.id
                )),
            }
        }
    }
    assert!(
        failures.is_empty(),
        "on {device:?}, {} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(
        noted.is_empty(),
        "on {device:?}, these do not differ as noted: {noted:?}"
    );
}

impl Case {
    /// What is given, by name, with the values of PyTorch and of the backend.
    fn results<B: PlainBackend + Readable>(
        &self,
        device: &B::Device,
    ) -> Result<Vec<(String, TensorData, TensorData)>, Error> {
        let mut inputs = vec![];
        for (i, data) in self.inputs.iter().enumerate() {
            let x = X::<B>::from_data(data.clone(), device)?;
            let is_leaf = self.gradients.iter().any(|(of, _)| *of == i);
            inputs.push(if is_leaf {
                Raw::new(<Autodiff<B>>::require_grad(x.into_primitive())?)
            } else {
                x
            });
        }
        let outputs = call::<B>(self.name, &self.args, inputs.clone(), device)?;
        assert_eq!(outputs.len(), self.outputs.len(), "outputs of {}", self.id);
        let mut results = vec![];
        for (i, (want, got)) in self.outputs.iter().zip(&outputs).enumerate() {
            results.push((format!("output {i}"), want.clone(), got.to_data()?));
        }
        if self.gradients.is_empty() {
            return Ok(results);
        }
        let gradients = <Autodiff<B>>::backward(weighted_sum(outputs)?.into_primitive())?;
        for (i, want) in &self.gradients {
            let leaf = <Autodiff<B>>::leaf(inputs[*i].primitive()).expect("the input is a leaf");
            let got = match gradients.get(leaf) {
                Some(gradient) => B::into_data(gradient.clone())?,
                None => inputs[*i].zeros_like()?.into_data()?,
            };
            results.push((format!("gradient {i}"), want.clone(), got));
        }
        Ok(results)
    }
}

/// The sum of the float outputs, in which element `i` of each weighs `i mod 7 / 2 - 7/4`.
fn weighted_sum<B: PlainBackend + Readable>(outputs: Vec<X<B>>) -> Result<X<B>, Error> {
    let tracked = outputs
        .into_iter()
        .filter(|x| <Autodiff<B>>::is_tracked(x.primitive()));
    let sums = tracked.map(|x| {
        let weights = (0..x.shape().num_elements()).map(|i| (i % 7) as f64 / 2.0 - 1.75);
        let weights = TensorData::new(weights.collect(), x.shape().clone())?.cast(x.dtype());
        let weights = X::<B>::from_data(weights, &x.device())?;
        x.mul(weights)?.sum()
    });
    let total = sums.reduce(|a, b| a?.add(b?));
    total.expect("an output is tracked")
}

/// Where a result differs: everywhere if it has another shape or element type.
fn differences(want: &TensorData, got: &TensorData) -> Vec<usize> {
    let places = 0..want.buffer().len().max(1);
    if (want.shape(), want.dtype()) != (got.shape(), got.dtype()) {
        return places.collect();
    }
    let (relative, absolute) = tolerance(want.dtype());
    let close = |place: usize| match (want.get(place), got.get(place)) {
        (Some(Scalar::Float(a)), Some(Scalar::Float(b))) => {
            let finite = a.is_finite() && b.is_finite();
            a == b || a.is_nan() && b.is_nan() || finite && (a - b).abs() <= absolute + relative * a.abs()
        }
        (a, b) => a == b,
    };
    places.filter(|&place| !close(place)).collect()
}

/// How far a float may be from PyTorch's: a part of it, and what sums that cancel leave.
fn tolerance(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F64 => (1e-10, 1e-14),
        DType::F32 => (1e-5, 1e-6),
        // 1 unit in the last place.
        DType::F16 => (2f64.powi(-10), 2f64.powi(-24)),
        _ => (2f64.powi(-7), 0.0),
    }
}
