use super::transform::{Float, KEPT, Transform};
use crate::backend::flex::testing::{Random, data};
use crate::op::FusedOp;
use crate::op::roots::turn;
use crate::raw::Raw;
use crate::{DType, Error, Flex, TensorData};

fn noise(len: usize, seed: usize) -> Vec<f64> {
    let value = |i: usize| ((i + seed * 7919 + 1) * 2_654_435_761 % 1_000_003) as f64 / 1_000_003.0 - 0.5;
    (0..len).map(value).collect()
}

fn upload(values: Vec<f64>, shape: &[usize], dtype: DType) -> Result<Raw<Flex>, Error> {
    Raw::from_data(TensorData::new(values, shape)?.cast(dtype), &Default::default())
}

fn rfft(x: &Raw<Flex>) -> Result<Raw<Flex>, Error> {
    Raw::fused(FusedOp::Rfft { x: x.clone() })
}

fn irfft(re: &Raw<Flex>, im: &Raw<Flex>, n: usize) -> Result<Raw<Flex>, Error> {
    let (re, im) = (re.clone(), im.clone());
    Raw::fused(FusedOp::Irfft { re, im, n })
}

fn cfft(re: &Raw<Flex>, im: &Raw<Flex>, inverse: bool) -> Result<Raw<Flex>, Error> {
    let (re, im) = (re.clone(), im.clone());
    Raw::fused(FusedOp::Cfft { re, im, inverse })
}

/// A part of the first axis, without it.
fn part(x: &Raw<Flex>, i: usize) -> Result<Raw<Flex>, Error> {
    x.clone().narrow(0, i, 1)?.squeeze_dim(0)
}

/// Both parts of `Σ x[j] exp(sign 2πi jk / n)` up to frequency `kept`, term by term, one after another.
fn naive(re: &[f64], im: &[f64], sign: f64, kept: usize) -> Vec<f64> {
    let n = re.len();
    let roots: Vec<_> = (0..n).map(|k| turn(k, n)).collect();
    let plus = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
    let at = |k: usize| {
        let term = |j: usize| {
            let (cos, sin) = (roots[j * k % n].0, sign * roots[j * k % n].1);
            (re[j] * cos - im[j] * sin, re[j] * sin + im[j] * cos)
        };
        // Sums of sums, which round less often.
        let sum = |start: usize| (start..n.min(start + 64)).map(term).fold((0.0, 0.0), plus);
        (0..n).step_by(64).map(sum).fold((0.0, 0.0), plus)
    };
    let (re, im): (Vec<_>, Vec<_>) = (0..kept).map(at).unzip();
    [re, im].concat()
}

/// The root of the sum of squares of how far `got` is from `want`, as a part of that of `want`, in units in the last place;
/// there are more of them the longer a transform is.
fn near(got: &[f64], want: &[f64], n: usize, dtype: DType, what: &str) {
    assert_eq!(got.len(), want.len());
    let unit = if dtype == DType::F64 {
        f64::EPSILON
    } else {
        f32::EPSILON.into()
    };
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    let off = norm(&mut got.iter().zip(want).map(|(a, b)| a - b));
    let error = off / norm(&mut want.iter().copied()) / unit;
    let bound = 1.0 + (n as f64).log2();
    assert!(
        error < bound,
        "{what} of {n} as {dtype}: {error} units, not {bound}"
    );
}

/// Every short length; products of every radix, powers of 2, primes, twice a prime, and long ones.
fn lengths() -> impl Iterator<Item = usize> {
    let long = [
        256, 384, 509, 512, 961, 1000, 1009, 1018, 1024, 1547, 2310, 4096, 4099, 8192,
    ];
    (1..=200).chain(long)
}

#[test]
fn the_sums_term_by_term() -> Result<(), Error> {
    for n in lengths() {
        for rows in if n < 512 { vec![1, 18] } else { vec![2] } {
            for dtype in [DType::F32, DType::F64] {
                let [re, im] = [1, 2].map(|seed| noise(rows * n, seed));
                let [x, y] = [&re, &im].map(|x| upload(x.clone(), &[rows, n], dtype));
                let (x, y) = (x?, y?);
                let (half, whole, back) = (rfft(&x)?, cfft(&x, &y, false)?, cfft(&x, &y, true)?);
                let real = irfft(&part(&half, 0)?, &part(&half, 1)?, n)?;
                near(&data(real)?, &re, n, dtype, "irfft");
                // The first and the last row: the rows of a block are of one kind.
                for row in [0, rows - 1] {
                    let of = |x: &Raw<Flex>| data(x.clone().narrow(1, row, 1)?);
                    let (re, im) = (&re[row * n..][..n], &im[row * n..][..n]);
                    let want = naive(re, &vec![0.0; n], -1.0, n / 2 + 1);
                    near(&of(&half)?, &want, n, dtype, "rfft");
                    near(&of(&whole)?, &naive(re, im, -1.0, n), n, dtype, "cfft");
                    let want: Vec<_> = naive(re, im, 1.0, n).iter().map(|x| x / n as f64).collect();
                    near(&of(&back)?, &want, n, dtype, "ifft");
                }
            }
        }
    }
    Ok(())
}

/// What is not finite stays in its row; what others give is the same bit by bit.
#[test]
fn rows_keep_to_themselves() -> Result<(), Error> {
    for n in [1, 2, 7, 37, 60, 74, 256, 509] {
        for rows in [3, 40] {
            let clean = noise(rows * n, 3);
            let mut spoilt = clean.clone();
            spoilt[n] = f64::NAN;
            spoilt[(rows - 1) * n + n / 2] = f64::INFINITY;
            let results = |values: Vec<f64>| -> Result<Vec<Vec<f64>>, Error> {
                let x = upload(values, &[rows, n], DType::F32)?;
                let kept = x.clone().narrow(1, 0, n / 2 + 1)?;
                let all = [
                    rfft(&x)?,
                    cfft(&x, &x, true)?,
                    irfft(&kept, &kept, n)?.unsqueeze_dim(0)?,
                ];
                all.into_iter().map(data).collect()
            };
            for (clean, spoilt) in results(clean)?.iter().zip(results(spoilt)?) {
                let width = clean.len() / rows / if clean.len() == rows * n { 1 } else { 2 };
                for (i, (clean, spoilt)) in clean.chunks(width).zip(spoilt.chunks(width)).enumerate() {
                    match i % rows {
                        // The imaginary part of frequency 0 is 0.
                        1 => assert!(i > rows || spoilt[0].is_nan()),
                        row if row == rows - 1 => {}
                        _ => assert_eq!(clean, spoilt),
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn views() -> Result<(), Error> {
    let mut random = Random::new(7);
    for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
        for _ in 0..40 {
            let shape: Vec<usize> = (0..random.up_to(3)).map(|_| random.up_to(9)).collect();
            let (x, y) = (random.view(&shape, dtype)?, random.view(&shape, dtype)?);
            let stretched: Vec<usize> = [3].iter().chain(&shape).copied().collect();
            for shape in [&shape, &stretched] {
                let [x, y] = [&x, &y].map(|x| x.clone().unsqueeze_dim(0)?.expand(stretched.clone()));
                let (mut x, mut y) = (x?, y?);
                if shape.len() < stretched.len() {
                    (x, y) = (part(&x, 0)?, part(&y, 0)?);
                }
                let plain = |x: &Raw<Flex>| Raw::from_data(x.clone().into_data()?, &Default::default());
                let (a, b) = (plain(&x)?, plain(&y)?);
                let n = 2 * shape[shape.len() - 1] - 1;
                assert_eq!(data(rfft(&x)?)?, data(rfft(&a)?)?);
                assert_eq!(data(cfft(&x, &y, true)?)?, data(cfft(&a, &b, true)?)?);
                assert_eq!(data(irfft(&x, &y, n)?)?, data(irfft(&a, &b, n)?)?);
            }
        }
    }
    Ok(())
}

/// Jobs take blocks of rows; each row gives what it gives in a tensor of as many rows that one job takes.
#[test]
fn many_rows_are_divided() -> Result<(), Error> {
    for (rows, n) in [(3000, 24), (300, 1024), (100, 509)] {
        let period = 20;
        let values: Vec<f64> = noise(period * n, 5).into_iter().cycle().take(rows * n).collect();
        let few = upload(values[..period * n].to_vec(), &[period, n], DType::F32)?;
        let all = upload(values, &[rows, n], DType::F32)?;
        let (few, all) = (rfft(&few)?, rfft(&all)?);
        let back = |x: &Raw<Flex>| data(irfft(&part(x, 0)?, &part(x, 1)?, n)?);
        let (few_back, all_back) = (back(&few)?, back(&all)?);
        assert!(all_back.chunks(period * n).all(|rows| rows == few_back));
        for i in 0..2 {
            let (few, all) = (data(part(&few, i)?)?, data(part(&all, i)?)?);
            assert!(all.chunks(few.len()).all(|rows| rows == &few[..rows.len()]));
        }
    }
    Ok(())
}

/// Those who have no imaginary part: whatever stands there.
#[test]
fn imaginary_parts_of_real_frequencies() -> Result<(), Error> {
    for n in [1, 2, 5, 6, 37, 74, 512] {
        let kept = n / 2 + 1;
        let re = upload(noise(kept, 1), &[1, kept], DType::F64)?;
        let mut im = noise(kept, 2);
        let zeroed = |im: &mut [f64], to: f64| {
            im[0] = to;
            if n % 2 == 0 {
                im[n / 2] = to;
            }
        };
        zeroed(&mut im, 0.0);
        let want = data(irfft(&re, &upload(im.clone(), &[1, kept], DType::F64)?, n)?)?;
        zeroed(&mut im, f64::NAN);
        assert_eq!(data(irfft(&re, &upload(im, &[1, kept], DType::F64)?, n)?)?, want);
        let half = rfft(&upload(want, &[1, n], DType::F64)?)?;
        let im = data(part(&half, 1)?)?;
        assert_eq!(im[0], 0.0);
        assert!(n % 2 != 0 || im[n / 2] == 0.0);
    }
    Ok(())
}

#[test]
fn a_few_transforms_are_kept() -> Result<(), Error> {
    let x = upload(noise(1000, 1), &[1000], DType::F32)?;
    let first = data(rfft(&x)?)?;
    for n in 1..3 * KEPT {
        rfft(&x.clone().narrow(0, 0, n)?)?;
        assert!(f32::kept().lock().unwrap().len() <= KEPT);
    }
    let again: Vec<_> = (0..2).map(|_| data(rfft(&x)?)).collect::<Result<_, Error>>()?;
    assert_eq!([&again[0], &again[1]], [&first; 2]);
    assert!(std::sync::Arc::ptr_eq(
        &Transform::<f64>::get(12, true, 1),
        &Transform::<f64>::get(12, true, 2)
    ));
    Ok(())
}

#[test]
fn absurd_lengths() -> Result<(), Error> {
    let x = upload(vec![1.0], &[1], DType::F16)?;
    for n in [1 << 45, (1 << 45) - 55] {
        let x = x.clone().expand([n])?;
        let refused = |result: Result<Raw<Flex>, Error>| {
            let text = result.unwrap_err().to_string();
            assert!(text.contains("more than can be allocated"), "{text}");
        };
        refused(rfft(&x));
        refused(cfft(&x, &x, false));
        refused(irfft(&x, &x, 2 * n - 1));
    }
    Ok(())
}
