//! Fourier transforms and windows. A tensor of complex numbers is two, or has a last axis of 2: the real and the imaginary
//! part.

use super::{AsDim, Tensor};
use crate::backend::{Backend, Readable, Supports};
use crate::element::FloatElement;
use crate::error::Error;
use crate::raw::Raw;
pub use crate::raw::StftOptions;

/// The Fourier transform of real numbers along an axis: the real and the imaginary part of
/// `X[k] = Σ x[j] exp(-2πi jk / n)` for k up to `n / 2`; the other frequencies are the conjugates of these, `X[n - k]`.
///
/// `n` is the size of the axis, which is cut or filled up with zeros to another one that is given. Every length takes
/// `O(n log n)`, fastest without large prime factors.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0, 3.0, 4.0], &Default::default());
/// let (re, im) = signal::rfft(x, 0, None);
/// assert_eq!(re.into_vec()?, [10.0, -2.0, -2.0]);
/// assert_eq!(im.into_vec()?, [0.0, 2.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis, or `n` is 0.
#[track_caller]
pub fn rfft<B: Backend, const D: usize, E: FloatElement>(
    signal: Tensor<B, D, E>,
    dim: impl AsDim,
    n: Option<usize>,
) -> (Tensor<B, D, E>, Tensor<B, D, E>) {
    Tensor::of_pair(signal.into_raw().rfft(dim.axis(D), n))
}

/// The inverse of [`rfft`] along an axis: the real numbers `x[j] = 1/n Σ X[k] exp(2πi jk / n)`, where the frequencies above
/// `n / 2` are the conjugates of those given.
///
/// `n` is `2 (size - 1)` by default, which is even: the length of a signal that was odd must be given. The axis is cut or
/// filled up with zeros to the `n / 2 + 1` frequencies that count. The imaginary parts of frequencies 0 and `n / 2`, which real
/// numbers do not have, are left out.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let re = Tensor::<Flex, 1>::from_array([10.0, -2.0, -2.0], &device);
/// let im = Tensor::from_array([0.0, 2.0, 0.0], &device);
/// assert_eq!(signal::irfft(re, im, 0, None).into_vec()?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes of the parts differ, there is no such axis, or `n` is 0.
#[track_caller]
pub fn irfft<B: Backend, const D: usize, E: FloatElement>(
    spectrum_re: Tensor<B, D, E>,
    spectrum_im: Tensor<B, D, E>,
    dim: impl AsDim,
    n: Option<usize>,
) -> Tensor<B, D, E> {
    Tensor::of(
        spectrum_re
            .into_raw()
            .irfft(spectrum_im.into_raw(), dim.axis(D), n),
    )
}

/// The Fourier transform of complex numbers along an axis, `X[k] = Σ x[j] exp(-2πi jk / n)`, for all k below n; the axis is cut
/// or filled up with zeros to an `n` that is given.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let re = Tensor::<Flex, 1>::from_array([1.0, 0.0, -1.0, 0.0], &device);
/// let im = Tensor::from_array([0.0, 1.0, 0.0, -1.0], &device);
/// let (re, im) = signal::cfft(re, im, 0, None);
/// assert_eq!(re.into_vec()?, [0.0, 4.0, 0.0, 0.0]);
/// assert_eq!(im.into_vec()?, [0.0; 4]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes of the parts differ, there is no such axis, or `n` is 0.
#[track_caller]
pub fn cfft<B: Backend, const D: usize, E: FloatElement>(
    signal_re: Tensor<B, D, E>,
    signal_im: Tensor<B, D, E>,
    dim: impl AsDim,
    n: Option<usize>,
) -> (Tensor<B, D, E>, Tensor<B, D, E>) {
    Tensor::of_pair(signal_re.into_raw().cfft(signal_im.into_raw(), dim.axis(D), n))
}

/// The inverse of [`cfft`] along an axis, `x[j] = 1/n Σ X[k] exp(2πi jk / n)`; the axis is cut or filled up with zeros to an `n`
/// that is given.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let re = Tensor::<Flex, 1>::from_array([0.0, 4.0, 0.0, 0.0], &device);
/// let (re, im) = signal::ifft(re.clone(), re.zeros_like(), 0, None);
/// assert_eq!(re.into_vec()?, [1.0, 0.0, -1.0, 0.0]);
/// assert_eq!(im.into_vec()?, [0.0, 1.0, 0.0, -1.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes of the parts differ, there is no such axis, or `n` is 0.
#[track_caller]
pub fn ifft<B: Backend, const D: usize, E: FloatElement>(
    spectrum_re: Tensor<B, D, E>,
    spectrum_im: Tensor<B, D, E>,
    dim: impl AsDim,
    n: Option<usize>,
) -> (Tensor<B, D, E>, Tensor<B, D, E>) {
    Tensor::of_pair(
        spectrum_re
            .into_raw()
            .ifft(spectrum_im.into_raw(), dim.axis(D), n),
    )
}

/// The short-time Fourier transform: [`rfft`] of frames of each signal, `hop_length` apart, times the window. The signals are
/// `[batch, samples]`, the result is `[batch, frames, frequencies, 2]`, real and imaginary parts last. Without a window, all
/// samples weigh 1.
///
/// There are `1 + (samples - n_fft) / hop_length` frames, where samples are those with the mirrored ones if frames are centred.
///
/// ```
/// use keyway::prelude::*;
/// use keyway::signal::StftOptions;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], &device);
/// let options = StftOptions { hop_length: 2, center: false, ..StftOptions::new(4) };
/// let y = signal::stft(x, None, options);
/// assert_eq!(y.dims(), [1, 2, 3, 2]);
/// assert_eq!(y.slice(s![0, 1, 0]).into_vec()?, [18.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `n_fft` or `hop_length` is 0, the window is not as long as the options say, that is longer than a frame, or a signal is
/// too short for one frame, or to be mirrored.
#[track_caller]
pub fn stft<B: Backend, E: FloatElement>(
    signal: Tensor<B, 2, E>,
    window: Option<Tensor<B, 1, E>>,
    options: StftOptions,
) -> Tensor<B, 4, E> {
    let window = window.map(Tensor::into_raw);
    Tensor::of(signal.into_raw().stft(window, options))
}

/// The signals whose [`stft`] with the same window and options is nearest to `stft_matrix` (D. W. Griffin and J. S. Lim 1984):
/// each frame is transformed back and weighed by the window, and the sum of what overlaps is divided by that of the squared
/// windows. `stft_matrix` is `[batch, frames, frequencies, 2]`, the result `[batch, samples]`.
///
/// With `length`, there are as many samples: those of a signal after the last whole hop need it, and where no frame is there are
/// zeros.
///
/// ```
/// use keyway::prelude::*;
/// use keyway::signal::StftOptions;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], &device);
/// let options = StftOptions::new(4);
/// let window: Tensor<Flex, 1> = signal::hann_window(4, true, &device);
/// let y = signal::stft(x.clone(), Some(window.clone()), options);
/// let back = signal::istft(y, Some(window), Some(6), options)?;
/// assert!(back.all_close(x, None, Some(1e-6))?);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Errors
/// If the squared windows over some sample add up to less than 1e-11, which is read, or the shapes or options do not fit.
pub fn istft<B: Readable, E: FloatElement>(
    stft_matrix: Tensor<B, 4, E>,
    window: Option<Tensor<B, 1, E>>,
    length: Option<usize>,
    options: StftOptions,
) -> Result<Tensor<B, 2, E>, Error> {
    let window = window.map(Tensor::into_raw);
    stft_matrix.try_apply(|x| x.istft(window, length, options))
}

/// The window of J. von Hann: `0.5 - 0.5 cos(2πk / n)` for each k below `size`. It is periodic with `n = size`, or else symmetric,
/// with `n = size - 1`; a window of one sample is 1.
///
/// ```
/// use keyway::prelude::*;
/// let window: Tensor<Flex, 1> = signal::hann_window(4, true, &Default::default());
/// assert_eq!(window.into_vec()?, [0.0, 0.5, 1.0, 0.5]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `size` exceeds the address space.
#[track_caller]
pub fn hann_window<B: Backend + Supports<E>, E: FloatElement>(
    size: usize,
    periodic: bool,
    device: &B::Device,
) -> Tensor<B, 1, E> {
    Tensor::of(Raw::hann_window(size, periodic, E::DTYPE, device))
}

/// The window of R. W. Hamming: `25/46 - 21/46 cos(2πk / n)`, as [`hann_window`].
///
/// ```
/// use keyway::prelude::*;
/// let window: Tensor<Flex, 1, f64> = signal::hamming_window(3, false, &Default::default());
/// assert_eq!(window.into_vec()?, [4.0 / 46.0, 1.0, 4.0 / 46.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `size` exceeds the address space.
#[track_caller]
pub fn hamming_window<B: Backend + Supports<E>, E: FloatElement>(
    size: usize,
    periodic: bool,
    device: &B::Device,
) -> Tensor<B, 1, E> {
    Tensor::of(Raw::hamming_window(size, periodic, E::DTYPE, device))
}

/// The window of R. B. Blackman: `0.42 - 0.5 cos(2πk / n) + 0.08 cos(4πk / n)`, as [`hann_window`].
///
/// ```
/// use keyway::prelude::*;
/// let window: Tensor<Flex, 1> = signal::blackman_window(4, true, &Default::default());
/// assert!((window.into_vec()?[1] - 0.34).abs() < 1e-7);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If `size` exceeds the address space.
#[track_caller]
pub fn blackman_window<B: Backend + Supports<E>, E: FloatElement>(
    size: usize,
    periodic: bool,
    device: &B::Device,
) -> Tensor<B, 1, E> {
    Tensor::of(Raw::blackman_window(size, periodic, E::DTYPE, device))
}
