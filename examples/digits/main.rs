//! Trains a small CNN on handwritten digits, data-parallel: `cargo run --release --example digits -- --help`.

use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use keyway::prelude::*;
use keyway::{FlexDevice, LocalBackend};

mod cli;
mod data;
mod model;
mod train;

use cli::{BackendName, Options};
use data::Digits;
use model::Net;
use train::{Outcome, bit_identical};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let Some(options) = Options::parse(std::env::args_os().skip(1))? else {
        print!("{}", cli::HELP);
        return Ok(());
    };
    // Each replica has a device with a random stream of its own.
    match options.backend {
        BackendName::Flex => report::<Flex>(&options, FlexDevice::new),
        #[cfg(feature = "ndarray")]
        BackendName::NdArray => report::<NdArray>(&options, NdArrayDevice::new),
        #[cfg(not(feature = "ndarray"))]
        BackendName::NdArray => unreachable!("the command line refuses what is not built"),
    }
}

fn report<B: LocalBackend>(
    options: &Options,
    device: impl Fn(u64) -> B::Device,
) -> Result<(), Box<dyn std::error::Error>> {
    let outcome = trained::<B>(options, &device)?;
    if let Some(path) = &options.save {
        let mut model = Net::<B>::new(&device(0));
        model.load_record(outcome.replicas[0].clone())?;
        model.save(path)?;
        println!("saved: {}", path.display());
    }
    let identical = if bit_identical(&outcome.replicas) {
        "yes"
    } else {
        "no"
    };
    println!("test accuracy: {:.1} %", 100.0 * outcome.accuracy);
    println!("replicas bit-identical: {identical}");
    println!(
        "images/s: {:.0}",
        outcome.images as f64 / outcome.elapsed.as_secs_f64()
    );
    Ok(())
}

fn trained<B: LocalBackend>(options: &Options, device: impl Fn(u64) -> B::Device) -> Result<Outcome, Error> {
    let (settings, replicas) = (&options.settings, options.replicas);
    let (train, test) = Digits::read(&options.data)?.split();
    let bar = progress_bar(settings.steps(train.len()));
    let progress = || bar.inc(1);
    let outcome = match replicas {
        1 => train::alone::<B>(&device(settings.seed), &train, &test, settings, progress)?,
        _ => {
            let devices = (0..replicas).map(|_| device(settings.seed)).collect();
            train::together::<B>(devices, &train, &test, settings, progress)?
        }
    };
    bar.finish_and_clear();
    Ok(outcome)
}

/// A bar on standard error; it draws nothing where that is not a terminal.
fn progress_bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} step {pos}/{len}, {eta} left");
    ProgressBar::new(steps as u64).with_style(style.expect("the template is well formed"))
}
