//! Trains a small CNN on handwritten digits, data-parallel: `cargo run --release --example digits -- --help`.

use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use keyway::prelude::*;

mod cli;
mod data;
mod model;
mod train;

use cli::Options;
use data::Digits;
use model::Net;

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
    let Options {
        devices, settings, ..
    } = &options;
    let (train, test) = Digits::read(&options.data)?.split();
    settings.check(train.len())?;
    let bar = progress_bar(settings.steps(train.len()));
    let outcome = train::replicas(devices, &train, &test, settings, || bar.inc(1))?;
    bar.finish_and_clear();
    // A file that cannot be written does not take the report away.
    let saved = options.save.as_ref().map_or(Ok(()), |path| {
        let mut model = Net::<Flex>::new(&Default::default());
        model.load_record(outcome.replicas[0].clone())?;
        model.save(path)
    });
    println!("{outcome}");
    Ok(saved?)
}

/// A bar on standard error; it draws nothing where that is not a terminal.
fn progress_bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} step {pos}/{len}, {eta} left");
    ProgressBar::new(steps as u64).with_style(style.expect("the template is well formed"))
}
