//! The product of two matrices: a safe face for the `gemm` kernels.

use gemm_common::Parallelism;

use super::elementwise::Real;
use crate::element::Element;

/// A float type that `gemm` has a kernel for.
pub(super) trait Gemm: Element + Real {
    const KERNEL: fn() -> Kernel<Self>;
}

/// `dst = alpha dst + beta lhs rhs`: the sizes m, n and k, each matrix with its column and its row stride (`dst`
/// followed by whether it is read at all), alpha, beta, which operands to conjugate, and the threads.
type Kernel<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

impl Gemm for f32 {
    const KERNEL: fn() -> Kernel<f32> = || gemm_f32::gemm::f32::get_gemm_fn();
}
impl Gemm for f64 {
    const KERNEL: fn() -> Kernel<f64> = || gemm_f64::gemm::f64::get_gemm_fn();
}

/// A matrix in a buffer.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a, T> {
    pub(super) base: &'a [T],
    pub(super) offset: usize,
    /// The distance between rows and between columns.
    pub(super) strides: [isize; 2],
}

impl<'a, T> Matrix<'a, T> {
    /// A matrix whose rows lie one after another.
    pub(super) fn rows(base: &'a [T], columns: usize) -> Self {
        Matrix {
            base,
            offset: 0,
            strides: [columns as isize, 1],
        }
    }

    pub(super) fn transposed(self) -> Self {
        let [rows, columns] = self.strides;
        Matrix {
            strides: [columns, rows],
            ..self
        }
    }

    /// Whether every element of `sizes` rows and columns lies in the buffer.
    fn holds(&self, sizes: [usize; 2]) -> bool {
        let (mut least, mut greatest) = (self.offset as i128, self.offset as i128);
        for (size, stride) in sizes.into_iter().zip(self.strides) {
            let Some(steps) = size.checked_sub(1) else {
                return true;
            };
            let reach = steps as i128 * stride as i128;
            least += reach.min(0);
            greatest += reach.max(0);
        }
        least >= 0 && greatest < self.base.len() as i128
    }
}

/// Writes the product of `a`, m × k, and `b`, k × n, to `out`, m rows of n elements whose starts lie `stride` apart;
/// adds it to what is there if `add`. With `parallel`, all threads work on it.
///
/// # Panics
/// If a matrix reaches out of its buffer.
pub(super) fn gemm<T: Gemm>(
    out: &mut [T],
    stride: usize,
    [m, k, n]: [usize; 3],
    a: Matrix<T>,
    b: Matrix<T>,
    add: bool,
    parallel: bool,
) {
    if m == 0 || n == 0 {
        return;
    }
    assert!(n <= stride || m == 1, "rows overlap");
    let reach = (m - 1).checked_mul(stride).and_then(|start| start.checked_add(n));
    assert!(
        reach.is_some_and(|reach| reach <= out.len()),
        "the result reaches out of its buffer"
    );
    assert!(
        a.holds([m, k]) && b.holds([k, n]),
        "an operand reaches out of its buffer"
    );
    let (mut a_start, mut b_start) = (a.base.as_ptr(), b.base.as_ptr());
    let ([a_row, mut a_column], [mut b_row, b_column]) = (a.strides, b.strides);
    if k > 0 {
        a_start = a_start.wrapping_add(a.offset);
        b_start = b_start.wrapping_add(b.offset);
    }
    // The kernels walk along k upwards only.
    if b_row < 0 && k > 0 {
        let last = k as isize - 1;
        a_start = a_start.wrapping_offset(last * a_column);
        b_start = b_start.wrapping_offset(last * b_row);
        (a_column, b_row) = (-a_column, -b_row);
    }
    let threads = if parallel {
        Parallelism::Rayon(0)
    } else {
        Parallelism::None
    };
    let (alpha, beta) = (if add { T::ONE } else { T::ZERO }, T::ONE);
    // The kernels write columns, so this computes the transpose of the result: the operands change places, and each
    // row stride stands for a column stride.
    // SAFETY: the asserts above show that every element which the sizes and strides reach lies in its slice, that the
    // rows of the result do not overlap, and `out` is borrowed exclusively. With k = 0 no operand is read.
    unsafe {
        T::KERNEL()(
            n,
            m,
            k,
            out.as_mut_ptr(),
            stride as isize,
            1,
            add,
            b_start,
            b_row,
            b_column,
            a_start,
            a_row,
            a_column,
            alpha,
            beta,
            false,
            false,
            false,
            threads,
        );
    }
}
