//! Fourier transforms and windows.

use std::f64::consts::TAU;

use keyway::signal::StftOptions;
use keyway::{DType, DynDevice, DynTensor, Element, Error};
use proptest::prelude::*;

use crate::check::{gradients, normal, one, two};

/// One product, two and three of them, primes, and a convolution (67, 2 · 67).
const LENGTHS: [usize; 18] = [
    1, 2, 3, 4, 5, 8, 12, 61, 64, 67, 96, 122, 128, 134, 243, 1024, 1009, 4620,
];

fn device(name: &str) -> DynDevice {
    name.parse().unwrap()
}

fn noise(len: usize, seed: usize) -> Vec<f64> {
    let value = |i: usize| ((i + seed * 7919 + 1) * 2_654_435_761 % 1_000_003) as f64 / 1_000_003.0 - 0.5;
    (0..len).map(value).collect()
}

fn upload<E: Element>(values: &[E], shape: &[usize]) -> DynTensor {
    DynTensor::from_vec(values.to_vec(), shape, &DynDevice::default()).unwrap()
}

fn read(x: DynTensor) -> Vec<f64> {
    x.into_data().unwrap().iter().collect()
}

type Numbers = Vec<(f64, f64)>;

/// `Σ x[j] exp(sign 2πi jk / n)`, term by term.
fn naive(x: &[(f64, f64)], sign: f64) -> Numbers {
    let n = x.len();
    let at = |k: usize| {
        let terms = x.iter().enumerate().map(|(j, &(re, im))| {
            let (sin, cos) = (sign * TAU * (j * k % n) as f64 / n as f64).sin_cos();
            (re * cos - im * sin, re * sin + im * cos)
        });
        terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1))
    };
    (0..n).map(at).collect()
}

fn norm(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// How far `got` is from `want`, as a part of `want`.
fn error(got: &[f64], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    norm(got.iter().zip(want).map(|(a, b)| a - b)) / norm(want.iter().copied()).max(f64::MIN_POSITIVE)
}

fn joined((re, im): (DynTensor, DynTensor)) -> Vec<f64> {
    [read(re), read(im)].concat()
}

fn parts(x: &[(f64, f64)]) -> Vec<f64> {
    x.iter().map(|v| v.0).chain(x.iter().map(|v| v.1)).collect()
}

/// Some units in the last place, of which there are more the longer a transform is.
fn bound(dtype: DType, n: usize) -> f64 {
    let unit = if dtype == DType::F64 {
        f64::EPSILON
    } else {
        f32::EPSILON.into()
    };
    (2.0 + (n as f64).log2()) * unit
}

#[test]
fn agrees_with_the_sums() -> Result<(), Error> {
    for (n, rows) in LENGTHS
        .into_iter()
        .map(|n| (n, 2))
        .chain([(96, 60), (128, 300), (1001, 60)])
    {
        let (re, im) = (noise(rows * n, 1), noise(rows * n, 2));
        let last = (rows - 1) * n;
        let real: Numbers = re[last..].iter().map(|&v| (v, 0.0)).collect();
        let complex: Numbers = re[last..]
            .iter()
            .copied()
            .zip(im[last..].iter().copied())
            .collect();
        let half = naive(&real, -1.0)[..n / 2 + 1].to_vec();
        let (spectrum, signal) = (naive(&complex, -1.0), naive(&complex, 1.0));
        for dtype in [DType::F64, DType::F32] {
            let [re, im] = [&re, &im].map(|x| upload(x, &[rows, n]).cast(dtype).unwrap());
            let row = |(re, im): (DynTensor, DynTensor)| -> Result<_, Error> {
                Ok((re.narrow(0, rows - 1, 1)?, im.narrow(0, rows - 1, 1)?))
            };
            let near = |got: Vec<f64>, want: Vec<f64>, what: &str| {
                let error = error(&got, &want);
                assert!(
                    error < bound(dtype, n),
                    "{what} of {n} as {dtype}, {rows} rows: {error:e}"
                );
            };
            near(joined(row(re.clone().rfft(1, None)?)?), parts(&half), "rfft");
            near(
                joined(row(re.clone().cfft(im.clone(), 1, None)?)?),
                parts(&spectrum),
                "cfft",
            );
            let scaled: Numbers = signal.iter().map(|v| (v.0 / n as f64, v.1 / n as f64)).collect();
            near(
                joined(row(re.clone().ifft(im, 1, None)?)?),
                parts(&scaled),
                "ifft",
            );
            let (a, b) = re.clone().rfft(1, None)?;
            near(read(a.irfft(b, 1, Some(n))?), read(re), "irfft of rfft");
        }
    }
    Ok(())
}

/// Along any axis of any layout, on every device.
#[test]
fn any_axis_and_layout() -> Result<(), Error> {
    for found in DynDevice::available() {
        let device = device(found.text.strip_suffix(":2").unwrap_or(&found.text));
        let x = DynTensor::from_vec(noise(4 * 6 * 5, 3), [4, 6, 5], &device)?;
        let layouts = [
            x.clone(),
            x.clone().permute([2, 0, 1])?,
            x.clone().narrow(1, 1, 3)?.flip([0, 1])?,
            x.narrow(2, 2, 1)?.expand([4, 6, 7])?,
        ];
        for x in layouts {
            for axis in 0..3 {
                for n in [None, Some(3), Some(9), Some(80)] {
                    let along = |x: DynTensor| x.movedim([axis], [2]);
                    // The same values, once more and in order.
                    let plain = DynTensor::from_data(along(x.clone())?.into_data()?, &device)?;
                    let (re, im) = x.clone().rfft(axis, n)?;
                    let want = plain.clone().rfft(2, n)?;
                    assert!(
                        error(
                            &joined((along(re.clone())?, along(im.clone())?)),
                            &joined(want.clone())
                        ) < 1e-14
                    );
                    let (a, b) = x.clone().cfft(x.clone().square()?, axis, n)?;
                    let want_full = plain.clone().cfft(plain.square()?, 2, n)?;
                    assert!(error(&joined((along(a)?, along(b)?)), &joined(want_full)) < 1e-14);
                    let n = n.unwrap_or(x.shape()[axis]);
                    let back = along(re.irfft(im, axis, Some(n))?)?;
                    let want = want.0.irfft(want.1, 2, Some(n))?;
                    assert_eq!(back.shape(), want.shape());
                    assert!(error(&read(back), &read(want)) < 1e-14);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Transforms keep the sum of squares (Parseval), and the inverse gives back the numbers.
    #[test]
    fn keeps_energy_and_comes_back(n in 1usize..700, rows in 1usize..4, seed in 0usize..1000, single in any::<bool>()) {
        let dtype = if single { DType::F32 } else { DType::F64 };
        let [re, im] = [1, 2].map(|i| upload(&noise(rows * n, seed + i), &[rows, n]).cast(dtype).unwrap());
        // The second is what sums of squares lose.
        let near = |energy: f64, want: f64| (energy / want - 1.0).abs() < bound(dtype, n) + n as f64 * f64::EPSILON;
        let given = joined((re.clone(), im.clone()));
        let (a, b) = re.clone().cfft(im, 1, None).unwrap();
        let energy = norm(joined((a.clone(), b.clone()))) / (n as f64).sqrt();
        prop_assert!(near(energy, norm(given.iter().copied())));
        prop_assert!(error(&joined(a.ifft(b, 1, None).unwrap()), &given) < bound(dtype, n));

        let (a, b) = re.clone().rfft(1, None).unwrap();
        // All frequencies but 0 and n / 2 stand for two.
        let twice = |x: &DynTensor| read(x.clone().narrow(1, 1, n - (n / 2 + 1)).unwrap());
        let energy = [joined((a.clone(), b.clone())), twice(&a), twice(&b)].concat();
        let real = read(re);
        prop_assert!(near(norm(energy) / (n as f64).sqrt(), norm(real.iter().copied())));
        prop_assert!(error(&read(a.irfft(b, 1, Some(n)).unwrap()), &real) < bound(dtype, n));
    }
}

#[test]
fn transform_gradients() {
    for (n, shape) in [
        (5, [2, 5]),
        (8, [2, 6]),
        (3, [2, 4]),
        (67, [1, 70]),
        (96, [1, 94]),
    ] {
        gradients([normal(&shape)], |[x]| two(x.rfft(1, Some(n))));
        let complex = [normal(&shape), normal(&shape)];
        gradients(complex.clone(), |[re, im]| two(re.cfft(im, 1, Some(n))));
        gradients(complex, |[re, im]| two(re.ifft(im, 1, Some(n))));
    }
    for n in [1, 2, 5, 8, 67, 96] {
        let shape = [1, n / 2 + 1];
        gradients([normal(&shape), normal(&shape)], |[re, im]| {
            one(re.irfft(im, 1, Some(n)))
        });
    }
    gradients([normal(&[3, 2])], |[x]| two(x.rfft(0, None)));
    gradients([normal(&[4, 2]), normal(&[4, 2])], |[re, im]| {
        one(re.irfft(im, 0, None))
    });
}

/// Where many rows make other products than few, the gradient of each row is that of the row alone.
#[test]
fn gradients_of_many_rows() -> Result<(), Error> {
    let (rows, n) = (70, 96);
    let gradient = |x: DynTensor| -> Result<DynTensor, Error> {
        let x = x.require_grad()?;
        let (re, im) = x.clone().rfft(1, None)?;
        let weight = |x: &DynTensor| upload(&noise(n / 2 + 1, 5), &[1, n / 2 + 1]).expand(x.shape().clone());
        let loss = re.clone().mul(weight(&re)?)?.sub(im.clone().square()?)?.sum()?;
        let back = re.irfft(im, 1, Some(n))?.powi(3)?.sum()?;
        let gradients = loss.add(back)?.backward()?;
        Ok(x.grad(&gradients)?.unwrap())
    };
    let x = upload(&noise(rows * n, 4), &[rows, n]);
    let whole = gradient(x.clone())?;
    for row in [0, 33, rows - 1] {
        let one = gradient(x.clone().narrow(0, row, 1)?)?;
        assert!(error(&read(whole.clone().narrow(0, row, 1)?), &read(one)) < 1e-13);
    }
    Ok(())
}

#[test]
fn what_real_numbers_have_not() -> Result<(), Error> {
    let re = upload(&[1.0, 2.0, 3.0], &[3]);
    let want = read(re.clone().irfft(upload(&[0.0, 0.5, 0.0], &[3]), 0, None)?);
    let im = upload(&[f64::NAN, 0.5, f64::INFINITY], &[3]).require_grad()?;
    let y = re.clone().irfft(im.clone(), 0, None)?;
    assert_eq!(read(y.clone()), want);
    let gradient = im.grad(&y.powi(2)?.sum()?.backward()?)?.unwrap();
    let gradient = read(gradient);
    assert_eq!((gradient[0], gradient[2]), (0.0, 0.0));
    assert!(gradient[1] != 0.0);
    // The last frequency of an odd length has a conjugate.
    let odd = read(re.clone().irfft(upload(&[9.0, 0.5, 7.0], &[3]), 0, Some(5))?);
    let zero = read(re.irfft(upload(&[0.0, 0.5, 7.0], &[3]), 0, Some(5))?);
    assert_eq!(odd, zero);
    assert!(error(&odd, &[2.2, -1.0, 1.0, -2.0, 0.8]) > 0.1);
    Ok(())
}

#[test]
fn halves_are_summed_as_f32() -> Result<(), Error> {
    let n = 2048;
    for dtype in [DType::F16, DType::BF16] {
        let x = upload(&noise(n, 6), &[n]).cast(dtype)?;
        let (re, im) = x.clone().rfft(0, None)?;
        let (want_re, want_im) = x.clone().float()?.rfft(0, None)?;
        assert_eq!(read(re.clone()), read(want_re.cast(dtype)?));
        assert_eq!(read(im.clone()), read(want_im.cast(dtype)?));
        let back = re.irfft(im, 0, None)?;
        assert_eq!(back.dtype(), dtype);
        assert!(error(&read(back), &read(x)) < 0.01);
    }
    Ok(())
}

#[test]
fn nothing_to_transform() -> Result<(), Error> {
    let x = upload::<f32>(&[], &[0, 4]);
    assert_eq!(
        x.clone().rfft(1, Some(1 << 40))?.0.shape()[..],
        [0, (1 << 39) + 1]
    );
    assert_eq!(x.clone().irfft(x.clone(), 1, None)?.shape()[..], [0, 6]);
    assert_eq!(x.clone().cfft(x.clone(), 1, None)?.1.shape()[..], [0, 4]);
    assert!(x.clone().rfft(1, Some(usize::MAX)).is_err());
    // Zeros fill up what is empty.
    assert_eq!(read(x.clone().rfft(0, Some(3))?.0), [0.0; 8]);
    assert_eq!(
        x.clone().stft(None, StftOptions::new(4))?.shape()[..],
        [0, 5, 3, 2]
    );
    let none = upload::<f32>(&[], &[0, 5, 3, 2]);
    assert_eq!(none.istft(None, None, StftOptions::new(4))?.shape()[..], [0, 4]);
    Ok(())
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, words: &str) {
    let text = result.unwrap_err().to_string();
    assert!(text.contains(words), "`{text}` does not say `{words}`");
}

#[test]
fn errors_name_the_way_out() {
    let x = upload(&noise(12, 7), &[3, 4]);
    refused(
        x.clone().rfft(2, None),
        "rfft: axis 2 is out of range for a tensor of rank 2",
    );
    refused(x.clone().rfft(1, Some(0)), "rfft: the length n is 0");
    refused(
        x.clone().int().unwrap().rfft(1, None),
        "rfft: expected a float type, got i32",
    );
    refused(
        upload::<f32>(&[], &[0]).rfft(0, None),
        "axis 0 is too short for a transform",
    );
    refused(
        upload(&[1.0], &[1]).irfft(upload(&[1.0], &[1]), 0, None),
        "irfft: [1]: axis 0 is too short",
    );
    refused(
        x.clone().cfft(upload(&[1.0], &[1, 1]), 1, None),
        "[3, 4] and [1, 1]: the real and the imaginary part",
    );
    refused(
        x.clone().ifft(x.clone().float().unwrap(), 1, None),
        "ifft: expected f64, as the real part, got f32",
    );
    refused(
        upload(&[1.0], &[]).rfft(0, None),
        "axis 0 is out of range for a tensor of rank 0",
    );

    let with = |f: fn(&mut StftOptions)| {
        let mut options = StftOptions::new(4);
        f(&mut options);
        options
    };
    let plain = StftOptions::new(4);
    refused(x.clone().stft(None, with(|o| o.n_fft = 0)), "stft: `n_fft` is 0");
    refused(
        x.clone().stft(None, with(|o| o.hop_length = 0)),
        "stft: `hop_length` is 0",
    );
    refused(
        x.clone().stft(None, with(|o| o.win_length = Some(5))),
        "a window of 5 samples in frames of 4",
    );
    refused(
        x.clone().stft(None, with(|o| o.win_length = Some(0))),
        "a window of 0 samples",
    );
    refused(
        x.clone().stft(Some(upload(&[1.0; 3], &[3])), plain),
        "stft: [3]: the window must have shape [4]",
    );
    refused(
        x.clone().stft(Some(upload(&[1f32; 4], &[4])), plain),
        "expected f64, as the signal",
    );
    refused(
        x.clone().stft(None, StftOptions::new(8)),
        "mirror 4 of them at each end",
    );
    refused(
        x.clone().stft(
            None,
            StftOptions {
                center: false,
                ..StftOptions::new(8)
            },
        ),
        "shorter than a frame of 8 samples",
    );
    refused(
        upload(&[1.0; 8], &[8]).stft(None, plain),
        "stft: expected a batch of signals, rank 2",
    );

    let spectra = upload(&noise(18, 8), &[1, 3, 3, 2]);
    refused(
        x.clone().istft(None, None, plain),
        "[3, 4]: expected [batch, frames, frequencies, 2]",
    );
    refused(
        spectra.clone().istft(None, None, StftOptions::new(8)),
        "one frame or more of 5 frequencies",
    );
    refused(
        spectra.clone().istft(None, None, with(|o| o.onesided = false)),
        "of 4 frequencies",
    );
    refused(
        spectra.clone().istft(None, None, with(|o| o.hop_length = 5)),
        "leave samples out",
    );
    refused(
        spectra.clone().narrow(1, 0, 0).unwrap().istft(None, None, plain),
        "one frame or more",
    );
    // The first sample of this window is 0, and no other frame is over it.
    let hann = DynTensor::hann_window(4, true, DType::F64, &DynDevice::default()).unwrap();
    let ends = with(|o| o.center = false);
    refused(
        spectra.clone().istft(Some(hann.clone()), None, ends),
        "leaves nothing to divide by",
    );
    refused(
        spectra.istft(Some(hann), Some(usize::MAX), plain),
        "address space",
    );

    let device = DynDevice::default();
    refused(
        DynTensor::hann_window(4, true, DType::I32, &device),
        "expected a float type, got i32",
    );
    refused(
        DynTensor::hann_window(usize::MAX, true, DType::F32, &device),
        "address space",
    );
}

fn options() -> Vec<StftOptions> {
    let mut all = vec![];
    for (n_fft, hop_length, win_length) in [
        (8, 2, None),
        (8, 3, Some(5)),
        (7, 2, Some(6)),
        (1, 1, None),
        (6, 6, None),
    ] {
        for (center, onesided) in [(true, true), (true, false), (false, true), (false, false)] {
            all.push(StftOptions {
                n_fft,
                hop_length,
                win_length,
                center,
                onesided,
            });
        }
    }
    all
}

/// A window without zeros.
fn window(options: &StftOptions) -> DynTensor {
    let len = options.win_length.unwrap_or(options.n_fft);
    DynTensor::hamming_window(len, false, DType::F64, &DynDevice::default()).unwrap()
}

/// Each frame is the transform of its samples times the window.
#[test]
fn frames() -> Result<(), Error> {
    let (batch, len) = (2, 20);
    let values = noise(batch * len, 9);
    // Also a hop that leaves samples out.
    let gaps = StftOptions {
        hop_length: 11,
        ..StftOptions::new(8)
    };
    for options in options().into_iter().chain([gaps]) {
        let StftOptions {
            n_fft,
            hop_length,
            center,
            ..
        } = options;
        let shape = window(&options);
        let before = (n_fft - shape.shape()[0]) / 2;
        let weights = read(shape.clone());
        let margin = if center { n_fft / 2 } else { 0 };
        let frames = 1 + (len + 2 * margin - n_fft) / hop_length;
        let mut want = vec![];
        for signal in values.chunks(len) {
            for frame in 0..frames {
                let sample = |i: usize| {
                    let place = (frame * hop_length + i) as isize - margin as isize;
                    let last = len as isize - 1;
                    let mirrored = if place > last {
                        2 * last - place
                    } else {
                        place.abs()
                    };
                    let weight = i.checked_sub(before).and_then(|i| weights.get(i)).unwrap_or(&0.0);
                    (signal[mirrored as usize] * weight, 0.0)
                };
                let x: Numbers = (0..n_fft).map(sample).collect();
                let kept = if options.onesided { n_fft / 2 + 1 } else { n_fft };
                want.extend(naive(&x, -1.0)[..kept].iter().flat_map(|&(re, im)| [re, im]));
            }
        }
        let y = upload(&values, &[batch, len]).stft(Some(shape), options)?;
        assert_eq!(y.shape()[..2], [batch, frames]);
        assert!(error(&read(y), &want) < 1e-13, "{options:?}");
    }
    Ok(())
}

#[test]
fn signals_come_back() -> Result<(), Error> {
    let x = upload(&noise(2 * 23, 10), &[2, 23]);
    for options in options() {
        for window in [None, Some(window(&options))] {
            let y = x.clone().stft(window.clone(), options)?;
            // What the frames reach.
            let reached = (y.shape()[1] - 1) * options.hop_length + options.n_fft;
            let reached = if options.center {
                reached - options.n_fft / 2
            } else {
                reached
            };
            let covered = match options.win_length {
                Some(len) if !options.center => {
                    // Beside the window of the first frame nothing is known.
                    assert!(len < options.n_fft);
                    refused(y.istft(window, None, options), "leaves nothing to divide by");
                    continue;
                }
                Some(len) => reached - (options.n_fft - len).div_ceil(2),
                None => reached,
            };
            let covered = covered.min(23);
            let back = y.clone().istft(window.clone(), Some(covered), options)?;
            assert!(
                error(&read(back), &read(x.clone().narrow(1, 0, covered)?)) < 1e-13,
                "{options:?}"
            );
            if options.win_length.is_none() {
                let long = y.clone().istft(window.clone(), Some(40), options)?;
                assert_eq!(long.shape()[..], [2, 40]);
                assert_eq!(read(long.narrow(1, 39, 1)?), [0.0, 0.0]);
            }
            let plain = y.clone().istft(window, None, options)?;
            let margin = if options.center {
                2 * (options.n_fft / 2)
            } else {
                0
            };
            assert_eq!(
                plain.shape()[1],
                (y.shape()[1] - 1) * options.hop_length + options.n_fft - margin
            );
        }
    }
    Ok(())
}

#[test]
fn frame_gradients() {
    for options in options().into_iter().filter(|options| options.n_fft > 1) {
        let len = options.win_length.unwrap_or(options.n_fft);
        let shape = crate::check::float(&[len], 0.3, 1.0);
        gradients([normal(&[1, 11]), shape.clone()], |[x, window]| {
            one(x.stft(Some(window), options))
        });
        if options.center || options.win_length.is_none() {
            let kept = if options.onesided {
                options.n_fft / 2 + 1
            } else {
                options.n_fft
            };
            gradients([normal(&[1, 3, kept, 2]), shape], |[x, window]| {
                one(x.istft(Some(window), Some(options.hop_length + 2), options))
            });
        }
    }
    gradients([normal(&[2, 9])], |[x]| one(x.stft(None, StftOptions::new(4))));
}

#[test]
fn windows() -> Result<(), Error> {
    let device = DynDevice::default();
    type Window = fn(usize, bool, DType, &DynDevice) -> Result<DynTensor, Error>;
    let all: [Window; 3] = [
        DynTensor::hann_window,
        DynTensor::hamming_window,
        DynTensor::blackman_window,
    ];
    for window in all {
        assert_eq!(window(0, true, DType::F32, &device)?.shape()[..], [0]);
        for periodic in [false, true] {
            assert_eq!(read(window(1, periodic, DType::F64, &device)?), [1.0]);
        }
        for size in [2, 3, 8, 9, 100] {
            let symmetric = read(window(size, false, DType::F64, &device)?);
            let reversed: Vec<f64> = symmetric.iter().rev().copied().collect();
            assert_eq!(symmetric, reversed);
            // A periodic window is a symmetric one without its last sample.
            let periodic = read(window(size - 1, true, DType::F64, &device)?);
            if size > 2 {
                assert_eq!(periodic, symmetric[..size - 1]);
            }
        }
        let halves = window(7, true, DType::F16, &device)?;
        assert_eq!(
            read(halves),
            read(window(7, true, DType::F64, &device)?.cast(DType::F16)?)
        );
    }
    let near = |got: DynTensor, want: &[f64]| assert!(error(&read(got), want) < 1e-15);
    near(
        DynTensor::hann_window(4, true, DType::F64, &device)?,
        &[0.0, 0.5, 1.0, 0.5],
    );
    near(
        DynTensor::hamming_window(4, true, DType::F64, &device)?,
        &[4.0 / 46.0, 25.0 / 46.0, 1.0, 25.0 / 46.0],
    );
    near(
        DynTensor::blackman_window(4, true, DType::F64, &device)?,
        &[0.0, 0.34, 1.0, 0.34],
    );
    Ok(())
}
