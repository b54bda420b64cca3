//! Loops compiled for the instruction sets that the processor may have.

/// Runs `f` compiled for the best instruction set found, so that the loops inlined into it vectorise for that.
///
/// Two sets only, the target's own and AVX2: a third, AVX-512, took a third more build time.
#[inline(always)]
pub(super) fn vectorised<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(Inlined(f));
    }
    f()
}

#[cfg(target_arch = "x86_64")]
struct Inlined<F>(F);

#[cfg(target_arch = "x86_64")]
impl<R, F: FnOnce() -> R> pulp::NullaryFnOnce for Inlined<F> {
    type Output = R;
    #[inline(always)]
    fn call(self) -> R {
        (self.0)()
    }
}
