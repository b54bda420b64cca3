//! What engines have no call for, and why. All else counts as what they have, by whichever way it goes.

use keyway::DType;

/// Ops that an engine lacks, on some element types.
pub struct Lack {
    pub backend: &'static str,
    pub ops: &'static [&'static str],
    pub of: fn(DType) -> bool,
    pub why: &'static str,
}

pub const LACKS: &[Lack] = &[
    Lack {
        backend: "ndarray",
        ops: &[
            "softmax",
            "log_softmax",
            "gelu",
            "silu",
            "layer_norm",
            "attention",
            "cross_entropy",
            "rfft",
            "irfft",
            "cfft",
        ],
        of: DType::is_float,
        why: "it has no fused kernels",
    },
    Lack {
        backend: "candle",
        ops: &[
            "softmax",
            "log_softmax",
            "layer_norm",
            "attention",
            "cross_entropy",
        ],
        of: DType::is_float,
        why: "`candle-nn` has them, `candle-core` does not",
    },
    Lack {
        backend: "candle",
        ops: &[
            "expm1",
            "log1p",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "asinh",
            "acosh",
            "atanh",
            "sigmoid",
            "atan2",
            "hypot",
            "remainder",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "bitwise_left_shift",
            "bitwise_right_shift",
            "prod",
            "cumprod",
            "cummax",
            "cummin",
            "rfft",
            "irfft",
            "cfft",
            "scatter mul",
            "scatter max",
            "scatter min",
            "select_assign mul",
            "select_assign max",
            "select_assign min",
        ],
        of: |_| true,
        why: "no such call",
    },
    Lack {
        backend: "candle",
        ops: &["max_pool"],
        of: DType::is_float,
        why: "its pooling gives no indices",
    },
    Lack {
        backend: "candle",
        ops: &["avg_pool_grad"],
        of: DType::is_float,
        why: "part of its own backward pass, for windows that do not overlap",
    },
    Lack {
        backend: "candle",
        ops: &["pow", "matmul", "cumsum"],
        of: DType::is_int,
        why: "calls for floats alone",
    },
];

/// The compiler holds that `candle_core::Tensor` has none of these methods: it would take one of its own before those of
/// the trait, which alone give `Absent`.
#[cfg(feature = "candle")]
mod absent_from_candle {
    use candle_core::Tensor;

    struct Absent;

    macro_rules! absent {
        ($($name:ident)*) => {
            trait Others {
                $(fn $name(&self) -> Absent {
                    Absent
                })*
            }
            impl Others for Tensor {}
            #[allow(dead_code)]
            fn are_absent(x: &Tensor) {
                $(let Absent = x.$name();)*
            }
        };
    }

    absent! {
        softmax log_softmax layer_norm scaled_dot_product_attention cross_entropy
        expm1 exp_m1 log1p ln_1p tan asin acos atan sinh cosh asinh acosh atanh sigmoid atan2 hypot
        rem remainder fmod bitand bitor bitxor shl shr bitwise_and bitwise_or bitwise_xor bitwise_not
        prod prod_keepdim cumprod cummax cummin fft ifft rfft irfft fft_rfft fft_irfft
        scatter_mul scatter_max scatter_min scatter_reduce index_mul index_max index_min index_reduce
        max_pool2d_with_indices avg_pool2d_backward
    }
}

/// What candle turned out to do with integers, of what it is said to do with floats alone.
#[cfg(feature = "candle")]
pub fn candle_takes_integers() -> Vec<&'static str> {
    use candle_core::{DType::I32, Device, Tensor};
    let Ok(x) = Tensor::ones((2, 2), I32, &Device::Cpu) else {
        return vec!["no integers at all"];
    };
    let calls = [
        ("pow", x.powf(2.0)),
        ("matmul", x.matmul(&x)),
        ("cumsum", x.cumsum(0)),
    ];
    let taken = calls.into_iter().filter(|(_, result)| result.is_ok());
    taken.map(|(name, _)| name).collect()
}
