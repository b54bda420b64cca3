//! Loops compiled for each instruction set that the processor may have.

/// Runs `f` compiled for the best instruction set found, so that the loops inlined into it vectorise for that.
#[inline(always)]
pub(super) fn vectorised<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}
