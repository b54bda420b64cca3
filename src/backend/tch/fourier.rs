//! Fourier transforms, by libtorch's own.

use tch::Tensor;

use super::elementwise::{copied, made};
use super::failure::Outcome;
use super::storage::{LibTorchTensor, kind};
use crate::op::{HasMeta, Meta};

pub(super) fn rfft(x: &LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    let n = x.tensor().size()[x.shape().rank() - 1];
    let spectrum = wide(x)?.f_fft_rfft(None, -1, "backward")?;
    let parts = Tensor::f_stack(&[spectrum.f_real()?, spectrum.f_imag()?], 0)?;
    without_ends(&mut parts.f_select(0, 1)?, n)?;
    made(parts.f_totype(kind(meta.dtype)?)?, x, meta)
}

pub(super) fn irfft(
    re: &LibTorchTensor,
    im: &LibTorchTensor,
    n: usize,
    meta: &Meta,
) -> Outcome<LibTorchTensor> {
    let n = n as i64;
    // To be written to; a copy of a stretched tensor is whole.
    let mut own = copied(im.tensor(), im.dtype().widened())?;
    without_ends(&mut own, n)?;
    let y = Tensor::f_complex(&wide(re)?, &own)?.f_fft_irfft(n, -1, "backward")?;
    made(y.f_totype(kind(meta.dtype)?)?, re, meta)
}

pub(super) fn cfft(
    re: &LibTorchTensor,
    im: &LibTorchTensor,
    inverse: bool,
    meta: &Meta,
) -> Outcome<LibTorchTensor> {
    let x = Tensor::f_complex(&wide(re)?, &wide(im)?)?;
    let y = if inverse {
        x.f_fft_ifft(None, -1, "backward")?
    } else {
        x.f_fft_fft(None, -1, "backward")?
    };
    let parts = Tensor::f_stack(&[y.f_real()?, y.f_imag()?], 0)?;
    made(parts.f_totype(kind(meta.dtype)?)?, re, meta)
}

/// libtorch transforms half types on GPUs alone.
fn wide(x: &LibTorchTensor) -> Outcome<Tensor> {
    Ok(x.tensor().f_totype(kind(x.dtype().widened())?)?)
}

/// Sets the imaginary parts to 0 that a spectrum of `n` real numbers has not, also where there are NaNs.
fn without_ends(imaginary: &mut Tensor, n: i64) -> Outcome<()> {
    let _ = imaginary.f_narrow(-1, 0, 1)?.f_zero_()?;
    if n % 2 == 0 {
        let _ = imaginary.f_narrow(-1, n / 2, 1)?.f_zero_()?;
    }
    Ok(())
}
