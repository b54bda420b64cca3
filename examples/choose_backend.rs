//! The device is chosen when the program runs, and asked once; what follows is typed.
//!
//! `cargo run --release --example choose_backend -- --device mesh:flex:2`

use std::process::ExitCode;
use std::thread;

use keyway::nn::{Linear, LinearConfig};
use keyway::optim::SgdConfig;
use keyway::prelude::*;
use keyway::{DynDevice, dispatch, dispatch_collective};
use lexopt::prelude::*;

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
    let mut parser = lexopt::Parser::from_env();
    let mut devices = DynDevice::from_env()?;
    while let Some(arg) = parser.next()? {
        match arg {
            Long("device") => devices = DynDevice::open(&parser.value()?.string()?)?,
            Long("help") => {
                println!("--device TEXT, or the variable KEYWAY_DEVICE, is one of:");
                for available in DynDevice::available() {
                    println!("  {}", available.text);
                }
                return Ok(());
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    let members: Vec<_> = devices
        .into_iter()
        .map(|device| thread::spawn(|| solve(device)))
        .collect();
    for (rank, member) in members.into_iter().enumerate() {
        let slope = member.join().map_err(|_| "a member panicked")??;
        println!("rank {rank}: y = {slope:.3} x");
    }
    Ok(())
}

/// The way from run time to types: a group trains together, a device alone by itself.
fn solve(device: DynDevice) -> Result<f32, Error> {
    let model = LinearConfig::new(1, 1).with_bias(false);
    if device.is_collective() {
        dispatch_collective!(device, |B, device| {
            let rank = B::member(&device).rank();
            fit::<B>(model.init(&device).distribute()?, rank, &device)
        })?
    } else {
        dispatch!(device, |B, device| fit::<B>(model.init(&device), 0, &device))
    }
}

/// Typed code for every backend: fits `y = 3 x` to this member's points.
fn fit<B>(mut model: Linear<Autodiff<B>>, rank: usize, device: &B::Device) -> Result<f32, Error>
where
    B: PlainBackend + Readable,
{
    let first = 1.0 + rank as f32;
    let x = Tensor::<Autodiff<B>, 2>::from_array([[first], [first + 0.5]], device);
    let mut sgd = SgdConfig::new().init();
    for _ in 0..50 {
        let error = model.forward(x.clone()) - x.clone() * 3.0;
        let gradients = (error.clone() * error).mean().backward().sync()?;
        sgd.step(0.1, &mut model, &gradients)?;
    }
    model.valid().weight.val().into_scalar()
}
