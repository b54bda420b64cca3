//! keyway's `Flex` beside burn-flex, candle and, where a Python with torch is at hand (`PYTHON`), PyTorch.
//!
//! `cargo run --release` in this folder; `-- --dispatch` ends after what dispatch costs, to which `--features candle`
//! adds the backend `Candle`, and `-- --transforms` measures Fourier transforms alone. Best of seven rounds in which every
//! library has its turn; microseconds, and the ratio of keyway to the best of the others.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use burn_flex::FlexTensor;
use burn_flex::ops::fft::{irfft_f32, rfft_f32};
use burn_tensor::Tensor as Burn;
use candle_core::{Device as CandleDevice, Tensor as Candle};
use keyway::prelude::*;

mod dispatch;
mod mlp;

const ROUNDS: usize = 7;

/// One piece of work, done by each library.
struct Row {
    name: String,
    /// keyway, burn, candle.
    micros: [Option<f64>; 3],
}

type Work<'a> = Option<Box<dyn FnMut() + 'a>>;

fn row(name: impl Into<String>, mut work: [Work; 3]) -> Row {
    let mut best = [f64::INFINITY; 3];
    work.iter_mut().flatten().for_each(|f| f());
    for _ in 0..ROUNDS {
        for (f, best) in work.iter_mut().zip(&mut best) {
            if let Some(f) = f {
                *best = best.min(time(f));
            }
        }
    }
    let row = Row {
        name: name.into(),
        micros: best.map(|t| t.is_finite().then_some(t)),
    };
    eprintln!("{}: {:?}", row.name, row.micros);
    row
}

fn time(f: &mut dyn FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(50) {
        f();
        calls += 1;
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

/// Values in 0..1 from a multiplicative hash: the same for every library.
fn values(len: usize) -> Vec<f32> {
    (0..len as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1u32 << 24) as f32)
        .collect()
}

struct Inputs<const D: usize> {
    keyway: Tensor<Flex, D>,
    burn: Burn<D>,
    candle: Candle,
}

fn inputs<const D: usize>(shape: [usize; D]) -> Inputs<D> {
    let values = values(shape.iter().product());
    let burn_data = burn_tensor::TensorData::new(values.clone(), shape.to_vec());
    Inputs {
        burn: Burn::from_data(burn_data, &burn_tensor::Device::flex()),
        candle: Candle::from_vec(values.clone(), &shape[..], &CandleDevice::Cpu).unwrap(),
        keyway: Tensor::try_from_data(TensorData::new(values, shape).unwrap(), &Default::default()).unwrap(),
    }
}

/// A row for a function of one or two tensors, given for each library.
macro_rules! compare {
    ($rows:ident, $name:expr, [$($input:expr),*], |$($x:ident),*| $keyway:expr, $burn:expr, $candle:expr) => {{
        let work: [Work; 3] = [
            { $(let $x = $input.keyway.clone();)* Some(Box::new(move || { $(let $x = $x.clone();)* let _ = black_box($keyway); })) },
            { $(let $x = $input.burn.clone();)* Some(Box::new(move || { $(let $x = $x.clone();)* black_box($burn); })) },
            { $(let $x = $input.candle.clone();)* Some(Box::new(move || { $(let $x = &$x;)* black_box($candle.unwrap()); })) },
        ];
        $rows.push(row($name, work));
    }};
}

fn main() {
    let given = |text: &str| std::env::args().any(|arg| arg == text);
    let mut rows = Vec::new();
    if given("--transforms") {
        transforms(&mut rows);
        return print(&rows, &torch());
    }
    dispatch::print();
    if given("--dispatch") {
        return;
    }
    println!();
    let (one, big, square) = (inputs([1]), inputs([1 << 20]), inputs([1024, 1024]));
    compare!(rows, "add, 1 element", [one, one], |x, y| x + y, x + y, x + y);
    compare!(rows, "exp, 1 element", [one], |x| x.exp(), x.exp(), x.exp());
    compare!(rows, "add 1M", [big, big], |x, y| x + y, x + y, x + y);
    compare!(rows, "exp 1M", [big], |x| x.exp(), x.exp(), x.exp());
    compare!(rows, "sum 1M", [big], |x| x.sum(), x.sum(), x.sum_all());
    compare!(
        rows,
        "softmax 1024x1024",
        [square],
        |x| keyway::activation::softmax(x, 1),
        burn_tensor::activation::softmax(x, 1),
        candle_nn::ops::softmax_last_dim(x)
    );
    compare!(
        rows,
        "sum axis 0 1024x1024",
        [square],
        |x| x.sum_dim(0),
        x.sum_dim(0),
        x.sum_keepdim(0)
    );
    compare!(
        rows,
        "transposed copy 1024x1024",
        [square],
        // Neither keyway nor burn has a public `contiguous`: reading a transposed tensor copies it.
        |x| x.transpose().into_data(),
        x.transpose().into_data(),
        x.t().and_then(|x| x.contiguous())
    );
    for n in [64, 512, 1024] {
        let factor = inputs([n, n]);
        compare!(
            rows,
            format!("matmul {n}"),
            [factor, factor],
            |x, y| x.matmul(y),
            x.matmul(y),
            x.matmul(y)
        );
    }
    let (image, kernel) = (inputs([8, 32, 56, 56]), inputs([64, 32, 3, 3]));
    compare!(
        rows,
        "conv2d 8x32x56x56 64 3x3",
        [image, kernel],
        |x, w| keyway::module::conv2d(
            x,
            w,
            None,
            keyway::module::ConvOptions::new([1, 1], [1, 1], [1, 1], 1)
        ),
        burn_tensor::module::conv2d(
            x,
            w,
            None,
            burn_tensor::ops::ConvOptions::new([1, 1], [1, 1], [1, 1], 1)
        ),
        x.conv2d(w, 1, 1, 1, 1)
    );
    transforms(&mut rows);
    mlp::rows(&mut rows);
    print(&rows, &torch());
}

fn transforms(rows: &mut Vec<Row>) {
    transform(rows, "1024x1024", inputs([1024, 1024]));
    transform(rows, "1024", inputs([1024]));
    transform(rows, "65536", inputs([1 << 16]));
    transform(rows, "65537", inputs([(1 << 16) + 1]));
}

/// A row for the spectrum of the last axis, and one for the way back.
fn transform<const D: usize>(rows: &mut Vec<Row>, shape: &str, x: Inputs<D>) {
    let n = x.burn.dims()[D - 1];
    let (re, im) = keyway::signal::rfft(x.keyway.clone(), -1, None);
    let there = || drop(black_box(keyway::signal::rfft(x.keyway.clone(), -1, None)));
    let back = || {
        drop(black_box(keyway::signal::irfft(
            re.clone(),
            im.clone(),
            -1,
            Some(n),
        )))
    };
    let mut peers: [Work; 2] = [None, None];
    // burn-flex transforms lengths that are powers of two.
    if n.is_power_of_two() {
        let burn = FlexTensor::from_data(x.burn.to_data());
        let (re, im) = rfft_f32(burn.clone(), D - 1, None);
        let there = move || drop(black_box(rfft_f32(burn.clone(), D - 1, None)));
        let back = move || drop(black_box(irfft_f32(re.clone(), im.clone(), D - 1, Some(n))));
        peers = [Some(Box::new(there)), Some(Box::new(back))];
    }
    let [peer_there, peer_back] = peers;
    rows.push(row(
        format!("rfft {shape}"),
        [Some(Box::new(there)), peer_there, None],
    ));
    rows.push(row(
        format!("irfft {shape}"),
        [Some(Box::new(back)), peer_back, None],
    ));
}

/// What the torch script measured: name, threads, microseconds.
fn torch() -> Vec<(String, u32, f64)> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/torch_peer.py");
    let Ok(output) = Command::new(&python).arg(script).output() else {
        return Vec::new();
    };
    if !output.status.success() {
        eprintln!(
            "{python} has no torch: its columns stay empty\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let parse = |line: &str| {
        let mut fields = line.split('\t');
        Some((
            fields.next()?.to_owned(),
            fields.next()?.parse().ok()?,
            fields.next()?.parse().ok()?,
        ))
    };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(parse)
        .collect()
}

fn print(rows: &[Row], torch: &[(String, u32, f64)]) {
    println!("| microseconds | keyway | burn | candle | torch 1 | torch 2 | keyway / best other |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        let torch = [1, 2].map(|n| torch.iter().find(|t| t.0 == row.name && t.1 == n).map(|t| t.2));
        let others = row.micros[1..].iter().chain(&torch).flatten();
        let best = others.copied().fold(f64::INFINITY, f64::min);
        let cell = |t: &Option<f64>| {
            t.map_or("–".into(), |t| {
                if t < 10.0 {
                    format!("{t:.3}")
                } else {
                    format!("{t:.0}")
                }
            })
        };
        let cells: Vec<String> = row.micros.iter().chain(&torch).map(cell).collect();
        let ratio = row.micros[0]
            .filter(|_| best.is_finite())
            .map_or("–".into(), |t| format!("{:.2}", t / best));
        println!("| {} | {} | {ratio} |", row.name, cells.join(" | "));
    }
}
