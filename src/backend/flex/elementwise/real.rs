//! Floats, for kernels that are generic in their width.

use num_traits::Float;

/// A float that kernels compute in.
pub(super) trait Real: Float + Send + Sync + 'static {
    fn round_ties_even(self) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn round_ties_even(self) -> Self {
        self.round_ties_even()
    }
}

impl Real for f64 {
    #[inline(always)]
    fn round_ties_even(self) -> Self {
        self.round_ties_even()
    }
}
