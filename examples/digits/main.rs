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
use train::Outcome;

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
    // A file that cannot be written does not take the report away.
    let saved = options.save.as_ref().map_or(Ok(()), |path| {
        let mut model = Net::<B>::new(&device(0));
        model.load_record(outcome.replicas[0].clone())?;
        model.save(path)
    });
    println!("{outcome}");
    Ok(saved?)
}

fn trained<B: LocalBackend>(options: &Options, device: impl Fn(u64) -> B::Device) -> Result<Outcome, Error> {
    let (settings, replicas) = (&options.settings, options.replicas);
    let (train, test) = Digits::read(&options.data)?.split();
    settings.check(train.len())?;
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
