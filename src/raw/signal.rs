use std::cmp::Ordering;

use super::fourier::{Complex, hermitian};
use super::{Raw, floats};
use crate::backend::memory::room;
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::element::DType;
use crate::error::Error;
use crate::op::roots::turn;
use crate::op::{self, FusedOp, PadMode, ScatterMode};
use crate::shape::Shape;

/// Where the sum of the squared windows is less, [`Raw::istft`] has nothing to divide by; as in PyTorch.
const LEAST_WEIGHT: f64 = 1e-11;

/// How [`Raw::stft`] and [`Raw::istft`] cut a signal into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StftOptions {
    /// The samples of a frame.
    pub n_fft: usize,
    /// The distance between the starts of two frames.
    pub hop_length: usize,
    /// The length of the window, which stands in the middle of a frame between zeros; `n_fft` by default.
    pub win_length: Option<usize>,
    /// Whether the middle of frame `t` is at sample `t · hop_length`: the signal is mirrored at its ends for that.
    pub center: bool,
    /// Whether a spectrum ends with frequency `n_fft / 2`: the others are conjugates of these.
    pub onesided: bool,
}

impl StftOptions {
    /// Frames of `n_fft` samples, a quarter of that apart; centred and one-sided.
    pub fn new(n_fft: usize) -> Self {
        StftOptions {
            n_fft,
            hop_length: (n_fft / 4).max(1),
            win_length: None,
            center: true,
            onesided: true,
        }
    }

    fn window_length(&self) -> usize {
        self.win_length.unwrap_or(self.n_fft)
    }

    fn frequencies(&self) -> usize {
        if self.onesided {
            self.n_fft / 2 + 1
        } else {
            self.n_fft
        }
    }

    /// How many samples the first frame reaches over the start of the signal.
    fn margin(&self) -> usize {
        if self.center { self.n_fft / 2 } else { 0 }
    }

    fn check(&self, op: &'static str) -> Result<(), Error> {
        let length = self.window_length();
        let message = if self.n_fft == 0 {
            "`n_fft` is 0; a frame has one sample or more".into()
        } else if self.hop_length == 0 {
            "`hop_length` is 0: the frames would all be the first".into()
        } else if length == 0 || length > self.n_fft {
            format!(
                "a window of {length} samples in frames of {}; it has 1 to `n_fft`",
                self.n_fft
            )
        } else {
            return Ok(());
        };
        Err(Error::argument(op, message))
    }

    fn check_window<B: Backend>(
        &self,
        op: &'static str,
        window: Option<&Raw<B>>,
        signal: &Raw<B>,
    ) -> Result<(), Error> {
        let Some(window) = window else { return Ok(()) };
        signal.same_dtype(op, window, "the signal")?;
        let length = self.window_length();
        if window.shape()[..] != [length] {
            let message =
                format!("the window must have shape [{length}], as `win_length` says, or `n_fft` without it");
            return Err(Error::shape(op, &[window.shape()], message));
        }
        Ok(())
    }

    /// The window of a whole frame, of no half type: ones if there is none.
    fn window<B: Backend>(&self, window: Option<Raw<B>>, like: &Raw<B>) -> Result<Raw<B>, Error> {
        let length = self.window_length();
        let window = match window {
            Some(window) => window.widen()?,
            None => Raw::ones([length], like.dtype(), &like.device())?,
        };
        let before = (self.n_fft - length) / 2;
        window.pad([(before, self.n_fft - length - before)], 0)
    }

    /// Where in a signal the samples of each frame are, one frame after another.
    fn places<B: Backend>(
        &self,
        op: &'static str,
        frames: usize,
        len: usize,
        like: &Raw<B>,
    ) -> Result<Raw<B>, Error> {
        like.lattice(op, len, [frames, self.hop_length], [self.n_fft, 1])?
            .ravel()
    }
}

impl Default for StftOptions {
    /// [`StftOptions::new`] with 400 samples.
    fn default() -> Self {
        StftOptions::new(400)
    }
}

/// Fourier transforms along an axis; a number with an imaginary part is two tensors, or an axis of 2.
///
/// # Errors
/// Each returns an error if the elements are no floats, there is no such axis, the length is 0, or as the ops it consists of.
impl<B: Backend> Raw<B> {
    /// The spectrum of real numbers up to frequency `n / 2`, its real and its imaginary part; the axis is cut or filled up with
    /// zeros to length `n`.
    pub fn rfft(self, axis: usize, n: Option<usize>) -> Result<(Self, Self), Error> {
        let lines = Lines::new("rfft", &self, axis)?;
        let n = lines.length(n, self.shape()[axis])?;
        lines.restore_pair(Self::fused(FusedOp::Rfft {
            x: lines.last(self, n)?,
        })?)
    }

    /// The `n` real numbers whose spectrum up to frequency `n / 2` has this real and this imaginary part, which are cut or
    /// filled up with zeros to that. `n` is `2 (size - 1)` by default.
    pub fn irfft(self, im: Self, axis: usize, n: Option<usize>) -> Result<Self, Error> {
        let lines = Lines::of_pair("irfft", &self, &im, axis)?;
        let n = lines.length(n, 2 * self.shape()[axis].saturating_sub(1))?;
        let kept = n / 2 + 1;
        let (re, im) = (lines.last(self, kept)?, lines.last(im, kept)?);
        lines.restore(Self::fused(FusedOp::Irfft { re, im, n })?)
    }

    /// The spectrum of numbers with this real and this imaginary part; the axis is cut or filled up with zeros to length `n`.
    pub fn cfft(self, im: Self, axis: usize, n: Option<usize>) -> Result<(Self, Self), Error> {
        self.complex_fft("cfft", im, axis, n, false)
    }

    /// The inverse of [`Raw::cfft`], which divides by `n`.
    pub fn ifft(self, im: Self, axis: usize, n: Option<usize>) -> Result<(Self, Self), Error> {
        self.complex_fft("ifft", im, axis, n, true)
    }

    fn complex_fft(
        self,
        op: &'static str,
        im: Self,
        axis: usize,
        n: Option<usize>,
        inverse: bool,
    ) -> Result<(Self, Self), Error> {
        let lines = Lines::of_pair(op, &self, &im, axis)?;
        let n = lines.length(n, self.shape()[axis])?;
        let (re, im) = (lines.last(self, n)?, lines.last(im, n)?);
        lines.restore_pair(Self::fused(FusedOp::Cfft { re, im, inverse })?)
    }
}

/// Windows, and spectra of short times.
///
/// # Errors
/// Each returns an error if the arguments make no sense, the shapes do not fit, or as the ops it consists of.
impl<B: Backend> Raw<B> {
    /// The spectra of the frames of each signal of `[batch, samples]` times the window: `[batch, frames, frequencies, 2]`.
    pub fn stft(self, window: Option<Self>, options: StftOptions) -> Result<Self, Error> {
        const OP: &str = "stft";
        options.check(OP)?;
        self.floats(OP)?;
        let [batch, len] = self.shape()[..] else {
            return Err(Error::rank(OP, self.rank(), "a batch of signals, rank 2"));
        };
        options.check_window(OP, window.as_ref(), &self)?;
        let (n_fft, margin) = (options.n_fft, options.margin());
        if options.center && len <= margin {
            let message = format!(
                "centred frames of {n_fft} samples mirror {margin} of them at each end, which the signal must be longer \
                 than; without `center` they lie within it"
            );
            return Err(Error::shape(OP, &[self.shape()], message));
        }
        let padded = len.saturating_add(margin).saturating_add(margin);
        if padded < n_fft {
            let message =
                format!("the signal is shorter than a frame of {n_fft} samples; `pad` makes it longer");
            return Err(Error::shape(OP, &[self.shape()], message));
        }
        let frames = 1 + (padded - n_fft) / options.hop_length;
        let shape = [batch, frames, options.frequencies(), 2];
        if batch == 0 {
            return Self::zeros(shape, self.dtype(), &self.device());
        }
        let dtype = self.dtype();
        let x = self.widen()?;
        let places = options.places(OP, frames, padded, &x)?;
        let window = options.window(window, &x)?.unsqueeze_dim(0)?;
        let x = x.pad([(margin, margin)], PadMode::Reflect)?.select(1, places)?;
        let rows = x.reshape([batch * frames, n_fft])?.mul(window)?;
        let mut spectra = Complex::unstack(Self::fused(FusedOp::Rfft { x: rows })?, 0)?;
        if !options.onesided {
            spectra = hermitian(spectra, n_fft)?;
        }
        spectra.stack(2)?.reshape(shape)?.cast(dtype)
    }

    /// The signals, `[batch, samples]`, whose [`Raw::stft`] with the same window and options is nearest to this tensor (D. W.
    /// Griffin and J. S. Lim 1984), cut or filled up with zeros to `length`. Reads whether the windows overlap everywhere:
    /// an error if they do not.
    pub fn istft(
        self,
        window: Option<Self>,
        length: Option<usize>,
        options: StftOptions,
    ) -> Result<Self, Error>
    where
        B: Readable,
    {
        const OP: &str = "istft";
        options.check(OP)?;
        self.floats(OP)?;
        let &[batch, frames, frequencies, 2] = &self.shape()[..] else {
            let message = "expected [batch, frames, frequencies, 2], as of `stft`";
            return Err(Error::shape(OP, &[self.shape()], message));
        };
        options.check_window(OP, window.as_ref(), &self)?;
        let (n_fft, hop, margin) = (options.n_fft, options.hop_length, options.margin());
        if frequencies != options.frequencies() || frames == 0 {
            let message = format!(
                "expected one frame or more of {} frequencies",
                options.frequencies()
            );
            return Err(Error::shape(OP, &[self.shape()], message));
        }
        if hop > options.window_length() {
            let message = format!(
                "windows of {} samples, {hop} apart, leave samples out; `hop_length` must not be greater",
                options.window_length()
            );
            return Err(Error::argument(OP, message));
        }
        let total = (frames - 1).checked_mul(hop).and_then(|n| n.checked_add(n_fft));
        let Some(total) = total else {
            return Err(Error::argument(OP, "the result exceeds the address space"));
        };
        let kept = length.unwrap_or(total.saturating_sub(2 * margin));
        if batch == 0 || kept == 0 {
            return Self::zeros([batch, kept], self.dtype(), &self.device());
        }
        let dtype = self.dtype();
        let x = self.widen()?;
        let places = options.places(OP, frames, total, &x)?;
        let window = options.window(window, &x)?.unsqueeze_dim(0)?;
        let part = |part| {
            let x = x.clone().narrow(3, part, 1)?.narrow(2, 0, n_fft / 2 + 1)?;
            x.reshape([batch * frames, n_fft / 2 + 1])
        };
        let (re, im) = (part(0)?, part(1)?);
        let rows = Self::fused(FusedOp::Irfft { re, im, n: n_fft })?.mul(window.clone())?;
        let weights = window.square()?.expand([frames, n_fft])?;
        let overlapped = |rows: Self, batch: usize| {
            let sums = Self::zeros([batch, total], rows.dtype(), &rows.device())?;
            let rows = rows.reshape([batch, frames * n_fft])?;
            let sums = sums.select_assign(1, places.clone(), rows, ScatterMode::Add)?;
            sums.narrow(1, margin, kept.min(total - margin))
        };
        let weights = overlapped(weights, 1)?;
        let least: f64 = weights.clone().min()?.into_scalar()?.to();
        if least < LEAST_WEIGHT {
            let message = format!(
                "the squares of the windows over some sample add up to {least:e}, which leaves nothing to divide by; they \
                 must overlap where they are 0, as with a shorter `hop_length` or with `center`"
            );
            return Err(Error::argument(OP, message));
        }
        let y = overlapped(rows, batch)?.div(weights)?;
        let more = kept - y.shape()[1];
        y.pad([(0, more)], 0)?.cast(dtype)
    }

    /// The window of J. von Hann: `0.5 - 0.5 cos(2πk / size)` for each k below `size`, or over `size - 1` where it is not
    /// periodic; 1 of one sample.
    pub fn hann_window(size: usize, periodic: bool, dtype: DType, device: &B::Device) -> Result<Self, Error> {
        Self::cosine_window("hann_window", [0.5, 0.5, 0.0], size, periodic, dtype, device)
    }

    /// The window of R. W. Hamming, as [`Raw::hann_window`] with 25/46 and 21/46.
    pub fn hamming_window(
        size: usize,
        periodic: bool,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        let weights = [25.0 / 46.0, 21.0 / 46.0, 0.0];
        Self::cosine_window("hamming_window", weights, size, periodic, dtype, device)
    }

    /// The window of R. B. Blackman: `0.42 - 0.5 cos(2πk / size) + 0.08 cos(4πk / size)`, as [`Raw::hann_window`].
    pub fn blackman_window(
        size: usize,
        periodic: bool,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        Self::cosine_window(
            "blackman_window",
            [0.42, 0.5, 0.08],
            size,
            periodic,
            dtype,
            device,
        )
    }

    fn cosine_window(
        op: &'static str,
        [a, b, c]: [f64; 3],
        size: usize,
        periodic: bool,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Self, Error> {
        floats(op, dtype)?;
        room(op, &op::checked(op, [size].into(), DType::F64)?)?;
        let period = if periodic { size } else { size.saturating_sub(1) };
        let value = |k| match size {
            1 => 1.0,
            _ => a - b * turn(k, period).0 + c * turn(2 * k, period).0,
        };
        let values = (0..size).map(value).collect::<Vec<f64>>();
        Self::from_data(TensorData::new(values, [size])?.cast(dtype), device)
    }
}

/// The lines of a tensor along an axis.
struct Lines {
    op: &'static str,
    shape: Shape,
    axis: usize,
}

impl Lines {
    fn new<B: Backend>(op: &'static str, x: &Raw<B>, axis: usize) -> Result<Self, Error> {
        x.floats(op)?;
        x.size(op, axis)?;
        Ok(Lines {
            op,
            shape: x.shape().clone(),
            axis,
        })
    }

    fn of_pair<B: Backend>(op: &'static str, re: &Raw<B>, im: &Raw<B>, axis: usize) -> Result<Self, Error> {
        if re.shape() != im.shape() {
            let message = "the real and the imaginary part must have one shape";
            return Err(Error::shape(op, &[re.shape(), im.shape()], message));
        }
        re.same_dtype(op, im, "the real part")?;
        Self::new(op, re, axis)
    }

    /// The length of the transforms.
    fn length(&self, given: Option<usize>, default: usize) -> Result<usize, Error> {
        match given {
            Some(0) => Err(Error::argument(
                self.op,
                "the length n is 0; a transform takes one number or more",
            )),
            None if default == 0 => {
                let message = format!(
                    "axis {} is too short for a transform; an `n` would fill it up",
                    self.axis
                );
                Err(Error::shape(self.op, &[&self.shape], message))
            }
            n => Ok(n.unwrap_or(default)),
        }
    }

    /// The lines along the last axis, cut or filled up to length `n`.
    fn last<B: Backend>(&self, x: Raw<B>, n: usize) -> Result<Raw<B>, Error> {
        let (size, last) = (self.shape[self.axis], self.shape.rank() - 1);
        let x = Self::moved(x, self.axis, last)?;
        match n.cmp(&size) {
            Ordering::Less => x.narrow(last, 0, n),
            Ordering::Equal => Ok(x),
            Ordering::Greater => x.pad([(0, n - size)], 0),
        }
    }

    /// The inverse of [`Lines::last`], for any length.
    fn restore<B: Backend>(&self, x: Raw<B>) -> Result<Raw<B>, Error> {
        Self::moved(x, self.shape.rank() - 1, self.axis)
    }

    /// A view takes about as long as a short transform.
    fn moved<B: Backend>(x: Raw<B>, from: usize, to: usize) -> Result<Raw<B>, Error> {
        if from == to {
            return Ok(x);
        }
        x.movedim([from], [to])
    }

    fn restore_pair<B: Backend>(&self, x: Raw<B>) -> Result<(Raw<B>, Raw<B>), Error> {
        let x = Complex::unstack(x, 0)?;
        Ok((self.restore(x.re)?, self.restore(x.im)?))
    }
}
