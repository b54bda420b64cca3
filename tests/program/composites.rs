//! The composites of `Raw`, in one table.

use keyway::module::{AvgPoolOptions, MaxPoolOptions};
use keyway::op::{ConvOptions, PadMode, PoolOptions, ReduceOp, ScatterMode};
use keyway::raw::{
    AttentionModuleOptions, CausalAlignment, ConvTransposeOptions, CoordinateTransformMode, CubicOptions,
    DeformConvOptions, GridIndexing, GridSampleOptions, GridSamplePaddingMode, GridSparsity, IndexPos,
    InterpolateMode, InterpolateOptions, Norm, Raw, Slice, StftOptions, UnfoldOptions,
};
use keyway::{Backend, Dims, Error, Readable};

/// What a composite may take.
#[derive(Clone, Debug)]
pub struct Args<T> {
    pub x: T,
    /// Tensors of the shape and the element type of `x`.
    pub y: T,
    pub z: T,
    /// Truth values of the shape of `x`.
    pub mask: T,
    /// Integers of rank 1, places of an axis of `x`.
    pub index: T,
    /// One number, of the type of `x`, for each place of the axis.
    pub row: T,
    pub axes: [usize; 2],
    pub n: [usize; 2],
    pub number: f64,
}

type Results<B> = Result<Vec<Raw<B>>, Error>;

pub struct Composite<B: Backend> {
    pub name: &'static str,
    pub call: fn(Args<Raw<B>>) -> Results<B>,
}

/// What a call gives, as a list.
trait IntoResults<B: Backend> {
    fn list(self) -> Results<B>;
}

impl<B: Backend> IntoResults<B> for Result<Raw<B>, Error> {
    fn list(self) -> Results<B> {
        self.map(|x| vec![x])
    }
}

impl<B: Backend> IntoResults<B> for Result<(Raw<B>, Raw<B>), Error> {
    fn list(self) -> Results<B> {
        self.map(|(x, y)| vec![x, y])
    }
}

impl<B: Backend> IntoResults<B> for Result<(Raw<B>, Raw<B>, Raw<B>), Error> {
    fn list(self) -> Results<B> {
        self.map(|(x, y, z)| vec![x, y, z])
    }
}

impl<B: Backend> IntoResults<B> for Results<B> {
    fn list(self) -> Results<B> {
        self
    }
}

/// A count that a result may have: what fits the address space but no memory is brought down to a few.
fn few(n: usize) -> usize {
    if n > isize::MAX as usize { n } else { n % 17 }
}

/// A factor of sizes, as [`few`].
fn scale(x: f64) -> f64 {
    if x > isize::MAX as f64 { x } else { x % 17.0 }
}

macro_rules! composites {
    (|$args:ident| { $($call:expr;)* }) => {
        vec![$(Composite {
            name: stringify!($call),
            call: |$args| IntoResults::list($call),
        }),*]
    };
}

/// Every composite, with arguments that fit or do not.
pub fn composites<B: Backend + Readable>() -> Vec<Composite<B>> {
    composites!(|a| {
        a.x.square();
        a.x.log2();
        a.x.log10();
        a.x.fmod(a.y);
        a.x.fmod(a.number);
        a.x.clamp(-1.0, a.number);
        a.x.clamp(a.y, a.z);
        a.x.clamp_min(a.number);
        a.x.clamp_max(a.y);
        a.x.is_finite();
        a.x.is_close(a.y, None, Some(a.number));
        a.x.contains_nan();
        a.x.mask_where(a.mask, a.y);
        a.x.mask_where(a.mask, 1);
        a.x.mask_fill(a.mask, a.number);
        a.x.deg2rad();
        a.x.rad2deg();
        a.x.round_to(a.n[0] as i32);
        a.x.round_to((a.n[1] as i32).wrapping_neg());
        a.x.powf(a.y);
        a.x.powi(a.n[0] as u64);
        a.x.float();
        a.x.int();
        a.x.bool();
        a.x.leaky_relu(a.number);
        a.x.prelu(a.y);
        a.x.prelu(a.row);
        a.x.elu(a.number);
        a.x.celu(a.number);
        a.x.selu();
        a.x.gelu_approximate();
        a.x.softplus(a.number);
        a.x.softplus_with_threshold(a.number, 1.5);
        a.x.softplus_with_threshold(1.5, a.number);
        a.x.hardtanh(-1.0, a.number);
        a.x.relu6();
        a.x.tanhshrink();
        a.x.threshold(a.number, 0.5);
        a.x.thresholded_relu(a.number);
        a.x.hard_shrink(a.number);
        a.x.soft_shrink(a.number);
        a.x.shrink(0.5, a.number);
        a.x.log_sigmoid();
        a.x.mish();
        a.x.hard_sigmoid(0.2, a.number);
        a.x.hard_swish();
        a.x.softsign();
        a.x.softmin(a.axes[0]);
        a.x.quiet_softmax(a.axes[0]);
        a.x.glu(a.axes[0]);
        a.x.layer_norm(Some(a.row), None, a.number);
        a.x.take(a.axes[0], a.index);
        a.x.select(a.axes[0], a.index);
        a.x.sort(a.axes[0]);
        a.x.sort_with_indices(a.axes[0]);
        a.x.sort_descending_with_indices(a.axes[0]);
        a.x.topk_with_indices(a.n[0], a.axes[0]);
        a.x.argwhere();
        a.mask.argwhere();
        a.mask.nonzero();
        a.x.mask_select(a.mask);
        a.x.argtopk(a.n[0], a.axes[0]);
        a.x.select_dim(a.axes[0], a.n[0]);
        a.x.gather_nd(a.index);
        a.index.unsqueeze_dim(1).and_then(|index| a.x.gather_nd(index));
        a.index
            .unsqueeze_dim(1)
            .and_then(|index| a.x.scatter_nd(index, a.y, ScatterMode::Add));
        a.x.scatter_nd(a.index, a.row, ScatterMode::Mul);
        a.x.vector_norm(Norm::L0, a.axes[0]);
        a.x.vector_norm(Norm::L1, a.axes[0]);
        a.x.vector_norm(Norm::L2, a.axes[0]);
        a.x.vector_norm(Norm::Lp(a.number), a.axes[0]);
        a.x.vector_norm(Norm::LInf, a.axes[0]);
        a.x.vector_norm(Norm::LNegInf, a.axes[0]);
        a.x.max_abs_dim(a.axes[0]);
        a.x.max_abs_dims(&a.axes);
        a.x.sum_dims_squeeze(&a.axes);
        a.x.cosine_similarity(a.y, a.axes[0], None);
        a.x.vector_norm_dims(Norm::L2, &a.axes);
        a.x.vector_norm_dims(a.number, &a.axes[..a.n[0] % 3]);
        a.x.lp_norm(a.number, a.axes[0]);
        a.x.lp_norm_dims(a.number, &a.axes);
        a.x.l0_norm(a.axes[0]);
        a.x.l0_norm_dims(&a.axes);
        a.x.l1_norm(a.axes[0]);
        a.x.l1_norm_dims(&a.axes);
        a.x.l2_norm(a.axes[0]);
        a.x.l2_norm_dims(&a.axes);
        a.x.max_abs_norm(a.axes[0]);
        a.x.max_abs_norm_dims(&a.axes);
        a.x.min_abs_norm(a.axes[0]);
        a.x.min_abs_norm_dims(&a.axes);
        a.x.vector_normalize(a.number, a.axes[0], 1e-3);
        a.x.vector_normalize(Norm::L2, a.axes[0], a.number);
        a.x.dot(a.y);
        a.x.matvec(a.row);
        a.x.outer(a.y);
        a.x.outer_dim(a.y, a.axes[0]);
        a.x.cross(a.y, a.axes[0]);
        a.x.trace();
        a.x.det();
        a.x.lu();
        a.x.qr(true);
        a.x.qr(false);
        a.x.cholesky(a.n[0] % 2 == 0);
        a.x.solve(a.y);
        a.x.solve(a.row);
        a.x.svd(false);
        a.x.svd(true);
        Raw::einsum("ij,jk->ik", vec![a.x, a.y]);
        Raw::einsum("...i,...i->...", vec![a.x, a.y]);
        Raw::einsum("...ii->...i", vec![a.x]);
        Raw::einsum("i...j, ...ij, j", vec![a.x, a.y, a.row]);
        Raw::einsum("ab..., b...", vec![a.x, a.z]);
        a.y.transpose().and_then(|weight| a.x.linear(weight, Some(a.row)));
        a.x.linear(a.y, None);
        a.x.embedding(a.index);
        a.x.conv(a.y, Some(a.row), ConvOptions::new(a.n[0] % 4));
        a.x.conv_transpose(
            a.y,
            Some(a.row),
            ConvTransposeOptions {
                conv: ConvOptions::new(a.n[0] % 4),
                padding_out: Dims::from_slice(&[few(a.n[1]), 0, 0]),
            },
        );
        a.x.conv_weight_backward(a.y, a.z, ConvOptions::new(a.n[0] % 4));
        a.x.deform_conv2d(
            a.y,
            a.z,
            None,
            Some(a.row),
            DeformConvOptions::new(a.n.map(few), [1, few(a.n[0])], [1; 2], 1, few(a.n[1])),
        );
        a.x.unsqueeze(4).and_then(|x| {
            let (image, kernel) = (
                x.clone().narrow(0, 0, 1)?.narrow(1, 0, 1)?,
                x.narrow(0, 0, 1)?.narrow(1, 0, 1)?,
            );
            let taps = image.shape().num_elements();
            let offset = Raw::full([1, 2 * taps, 1, 1], a.number, image.dtype(), &image.device())?;
            image.deform_conv2d(offset, kernel, None, None, DeformConvOptions::default())
        });
        a.x.batch_norm(a.row.clone(), a.row.clone(), a.row.clone(), a.row, a.number);
        a.x.batch_norm_train(a.row.clone(), a.row, a.number)
            .map(|(y, mean, variance)| vec![y, mean, variance]);
        a.x.attention(
            a.y,
            a.z,
            None,
            None,
            AttentionModuleOptions {
                softcap: Some(a.number),
                is_causal: true,
                causal_alignment: CausalAlignment::TopLeft,
                ..Default::default()
            },
        );
        a.x.unfold(a.axes[0], few(a.n[0]), few(a.n[1]));
        a.x.unsqueeze(4)?.unfold4d(
            a.n.map(few),
            UnfoldOptions::new([1, few(a.n[0])], [few(a.n[1]), 1], [1, 1]),
        );
        a.x.unsqueeze(3)?.fold4d(
            a.n.map(few),
            [1, few(a.n[1])],
            UnfoldOptions::new([1, 1], [few(a.n[0]), 0], [2, few(a.n[1])]),
        );
        a.x.interpolate(InterpolateOptions::new(InterpolateMode::Nearest).with_output_size(a.n.map(few)));
        a.x.unsqueeze(4)?.interpolate(
            InterpolateOptions::new(InterpolateMode::NearestExact).with_scale_factor([scale(a.number), 1.5]),
        );
        a.x.unsqueeze(4)?
            .interpolate(InterpolateOptions::new(InterpolateMode::Bilinear).with_output_size(a.n.map(few)));
        a.x.unsqueeze(4)?.interpolate(
            InterpolateOptions::new(InterpolateMode::Bicubic)
                .with_output_size(a.n.map(few))
                .with_coordinate_transform(CoordinateTransformMode::TfCropAndResize {
                    roi: [[a.number, 0.5], [0.0, 1.0]],
                    extrapolation_value: a.number,
                })
                .with_cubic_options(CubicOptions {
                    a: a.number,
                    exclude_outside: true,
                }),
        );
        a.x.unsqueeze(4)?.interpolate(
            InterpolateOptions::new(InterpolateMode::Lanczos3)
                .with_coordinate_transform(CoordinateTransformMode::HalfPixelSymmetric)
                .with_scale_factor([1.7, scale(a.number)]),
        );
        a.x.grid_sample_2d(a.y, InterpolateMode::Bilinear);
        a.x.unsqueeze(4).and_then(|x| {
            let grid = Raw::full(
                [x.shape()[0], 2, few(a.n[0]) % 4, 2],
                a.number,
                x.dtype(),
                &x.device(),
            )?;
            let options =
                GridSampleOptions::new(InterpolateMode::Bicubic).with_align_corners(a.n[1] % 2 == 0);
            x.grid_sample_2d(grid, options.with_padding_mode(GridSamplePaddingMode::Reflection))
        });
        a.x.unsqueeze(3)?.affine_grid_2d([few(a.n[0]), 1, few(a.n[1]), 2]);
        Raw::full([2, 2, 3], a.number, a.x.dtype(), &a.x.device())?.affine_grid_2d([
            2,
            1,
            few(a.n[0]),
            few(a.n[1]),
        ]);
        Raw::meshgrid(&[a.x, a.row.clone(), a.row], GridSparsity::Dense);
        Raw::meshgrid(&[a.index.clone(), a.index], GridIndexing::Cartesian);
        Raw::meshgrid_stack(&[a.row.clone(), a.row.clone(), a.row], IndexPos::Last);
        Raw::meshgrid_stack(&[a.x][..0], IndexPos::First);
        Raw::cartesian_grid(a.n.map(few), a.x.dtype(), &a.x.device());
        a.x.max_pool(PoolOptions::new(Dims::from_slice(&[few(a.n[0])])));
        a.x.max_pool(
            MaxPoolOptions::new([few(a.n[0])])
                .with_stride([few(a.n[1])])
                .with_padding([1])
                .with_ceil_mode(true),
        );
        a.x.unsqueeze(4)?.max_pool(
            MaxPoolOptions::new(a.n.map(few))
                .with_stride([2, 3])
                .with_ceil_mode(true),
        );
        a.x.unsqueeze(4)?.avg_pool(
            AvgPoolOptions::new([2, few(a.n[0])])
                .with_stride([few(a.n[1]), 2])
                .with_padding_pairs([(1, few(a.n[0])), (0, 1)])
                .with_ceil_mode(true),
        );
        a.x.avg_pool_backward(
            a.y,
            AvgPoolOptions::new([1, 1])
                .with_padding([0, few(a.n[0])])
                .with_ceil_mode(true),
        );
        a.x.avg_pool_backward(
            a.y,
            AvgPoolOptions::new([few(a.n[0])])
                .with_stride([1])
                .with_ceil_mode(true),
        );
        a.x.max_pool_with_indices_backward(MaxPoolOptions::new([1]), a.y.clone(), a.y);
        a.x.max_pool_with_indices_backward(
            MaxPoolOptions::new([few(a.n[0])]).with_ceil_mode(true),
            a.y,
            a.index,
        );
        a.x.adaptive_avg_pool(&[few(a.n[0])]);
        a.x.unsqueeze(4)?.adaptive_avg_pool(&a.n.map(few));
        a.x.max_pool_with_indices(PoolOptions::new(Dims::from_slice(&[2, few(a.n[0])])));
        a.x.mse(a.y);
        a.x.l1(a.y);
        a.x.huber(a.y, a.number);
        a.x.smooth_l1(a.y, a.number);
        a.x.binary_cross_entropy_with_logits(a.y);
        a.x.kl_div(a.y);
        a.x.cross_entropy_with_logits(a.y);
        a.x.cross_entropy(a.index);
        a.x.log_softmax(2).and_then(|x| {
            let targets = a.index.clone().unsqueeze_dim(1)?;
            x.ctc_loss(targets, a.index.ones_like()?, a.index, a.n[0] % 2)
        });
        a.x.nll(a.index);
        a.x.rfft(a.axes[0], None);
        a.x.rfft(a.axes[0], Some(few(a.n[0])));
        a.x.irfft(a.y, a.axes[0], None);
        a.x.irfft(a.y, a.axes[0], Some(few(a.n[0])));
        a.x.cfft(a.y, a.axes[0], Some(few(a.n[0])));
        a.x.ifft(a.row, a.axes[0], None);
        a.x.stft(
            Some(a.row),
            StftOptions {
                hop_length: a.n[0],
                ..StftOptions::new(few(a.n[1]))
            },
        );
        a.x.stft(
            None,
            StftOptions {
                win_length: Some(a.n[0]),
                center: false,
                ..StftOptions::new(few(a.n[1]))
            },
        );
        a.x.istft(Some(a.row), Some(few(a.n[0])), StftOptions::new(few(a.n[1])));
        a.x.istft(
            None,
            None,
            StftOptions {
                hop_length: a.n[0],
                onesided: false,
                ..StftOptions::new(a.n[1])
            },
        );
        Raw::hann_window(few(a.n[0]), true, a.x.dtype(), &a.x.device());
        Raw::blackman_window(few(a.n[0]), false, a.x.dtype(), &a.x.device());
        a.x.flatten(a.axes[0], a.axes[1]);
        a.x.swap_dims(a.axes[0], a.axes[1]);
        a.x.transpose();
        a.x.narrow(a.axes[0], a.n[0], a.n[1]);
        a.x.pad([(few(a.n[0]), few(a.n[1]))], PadMode::Reflect);
        a.x.repeat_dim(a.axes[0], few(a.n[0]));
        Raw::stack(vec![a.x, a.y, a.z], a.axes[0]);
        Raw::cat(vec![a.x, a.index], a.axes[0]);
        Raw::cat(vec![], a.axes[0]);
        a.x.unsqueeze_dim(a.axes[0]);
        a.x.unsqueeze_dims(&a.axes);
        a.x.unsqueeze(few(a.n[0]));
        a.x.squeeze();
        a.x.squeeze_dim(a.axes[0]);
        a.x.squeeze_dims(&a.axes);
        a.x.movedim([a.axes[0]], [a.axes[1]]);
        a.x.movedim(a.axes, a.n);
        a.x.split_with_sizes(&a.n, a.axes[0]);
        a.x.split(a.n[0], a.axes[0]);
        a.x.chunk(a.n[0], a.axes[0]);
        a.x.roll(&[a.n[0] as isize, -1], &a.axes);
        a.x.roll_dim(a.n[0] as isize, a.axes[0]);
        a.x.triu(a.n[0] as i64);
        a.x.tril((a.n[0] as i64).wrapping_neg());
        a.x.diag();
        a.x.var_mean(a.axes[0]);
        a.x.var_bias(a.axes[0]);
        a.x.std(a.axes[0]);
        a.x.cov(a.axes[0], a.n[0]);
        a.x.median(a.axes[0]);
        a.x.median_with_indices(a.axes[0]);
        a.x.reduce_all(ReduceOp::Sum);
        a.x.reduce_all(ReduceOp::ArgMax);
        a.x.reduce(ReduceOp::Max, &a.axes);
        a.x.max_dim_with_indices(a.axes[0]);
        a.x.min_dim_with_indices(a.axes[0]);
        a.x.one_hot(few(a.n[0]));
        a.index.one_hot(few(a.n[0]));
        a.x.one_hot_fill(few(a.n[0]), a.number, 0, a.axes[0]);
        a.index.one_hot_fill(few(a.n[0]), 1, -1, a.axes[0]);
        a.x.ones_like();
        a.x.empty_like();
        Raw::triu_mask([few(a.n[0]), few(a.n[1])], a.n[0] as i64, &a.x.device());
        Raw::tril_mask([2, few(a.n[0]), 3], (a.n[1] as i64).wrapping_neg(), &a.x.device());
        Raw::diag_mask([few(a.n[0]), 3], a.n[1] as i64, &a.x.device());
        Raw::diag_mask([few(a.n[0])], 0, &a.x.device());
        Raw::eye(few(a.n[0]), a.x.dtype(), &a.x.device());
        Raw::linspace(a.number, 2.0, few(a.n[0]), a.x.dtype(), &a.x.device());
        a.x.slice_fill([Slice::new(a.n[0] as isize, Some(a.n[1] as isize), 1)], a.number);
        a.x.slice([Slice::new(a.n[0] as isize, Some(a.n[1] as isize), -1)]);
        a.x.slice([Slice::new((a.n[0] as isize).wrapping_neg(), None, isize::MIN)]);
        a.x.slice([Slice::new(0, None, a.axes[0] as isize)]);
        a.x.slice_dim(a.axes[0], a.n[0] as isize);
    })
}
