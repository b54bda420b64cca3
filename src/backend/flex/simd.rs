//! Loops compiled for the instruction sets that the processor may have.
//!
//! Every set costs build time, and there is a loop for each op and element type: AVX-512 for all took a third more. So
//! only loops that compute much get it; one that mostly moves memory gets no faster than with AVX2.

/// Runs `f` with AVX2 where there is AVX2, so that the loops inlined into it vectorise for that.
#[inline(always)]
pub(super) fn vectorised<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(Inlined(f));
    }
    f()
}

/// Runs `f` with the widest instructions found, so that the loops inlined into it vectorise for those.
#[inline(always)]
pub(super) fn vectorised_widest<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(Inlined(f))
}

struct Inlined<F>(F);

impl<R, F: FnOnce() -> R> pulp::NullaryFnOnce for Inlined<F> {
    type Output = R;
    #[inline(always)]
    fn call(self) -> R {
        (self.0)()
    }
}
