//! Training: one replica alone, or several in a group.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use keyway::nn::Record;
use keyway::optim::SgdConfig;
use keyway::prelude::*;
use keyway::{DynDevice, dispatch, dispatch_collective};

use crate::data::{Digits, shuffled};
use crate::model::Net;

const LEARNING_RATE: f64 = 0.05;
const MOMENTUM: f64 = 0.9;

/// How to train.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) epochs: usize,
    /// The images of a step, over all replicas.
    pub(crate) batch: usize,
    pub(crate) seed: u64,
    pub(crate) max_steps: usize,
}

/// What came of it.
pub(crate) struct Outcome {
    /// The share of the test images that were recognised.
    pub(crate) accuracy: f64,
    /// The parameters of each replica, read from its own device.
    pub(crate) replicas: Vec<Record>,
    /// The images trained with.
    pub(crate) images: usize,
    pub(crate) elapsed: Duration,
}

/// One replica's share of every batch.
#[derive(Clone, Copy)]
struct Share {
    rank: usize,
    replicas: usize,
}

impl Settings {
    /// Refuses batches that there are not enough images for.
    pub(crate) fn check(&self, images: usize) -> Result<(), Error> {
        if self.batch > images {
            let message = format!("{} is more than the {images} images to train with", self.batch);
            return Err(Error::argument("--batch", message));
        }
        Ok(())
    }

    /// The number of steps: whole batches only.
    pub(crate) fn steps(&self, images: usize) -> usize {
        let all = self.epochs.saturating_mul(images / self.batch);
        all.min(self.max_steps)
    }
}

/// The report.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let identical = if bit_identical(&self.replicas) {
            "yes"
        } else {
            "no"
        };
        writeln!(f, "test accuracy: {:.1} %", 100.0 * self.accuracy)?;
        writeln!(f, "replicas bit-identical: {identical}")?;
        write!(
            f,
            "images/s: {:.0}",
            self.images as f64 / self.elapsed.as_secs_f64()
        )
    }
}

/// Trains a replica on each device, on a thread of its own; they see equal shares of every batch. The first one reports
/// progress.
pub(crate) fn replicas(
    devices: &[DynDevice],
    train: &Digits,
    test: &Digits,
    settings: &Settings,
    progress: impl Fn() + Sync,
) -> Result<Outcome, Error> {
    let progress = &progress;
    let replica = |(rank, device): (usize, &DynDevice)| {
        let device = device.clone();
        let report = move || {
            if rank == 0 {
                progress();
            }
        };
        let share = Share {
            rank,
            replicas: devices.len(),
        };
        // The device is asked once; from here on, the types are known.
        move || match device.is_collective() {
            true => dispatch_collective!(device, |B, device| {
                device.seed(settings.seed);
                let model = Net::<Autodiff<B>>::new(&device).distribute()?;
                trained(model, &device, train, test, settings, share, report)
            })?,
            false => dispatch!(device, |B, device| {
                device.seed(settings.seed);
                let model = Net::<Autodiff<B>>::new(&device);
                trained(model, &device, train, test, settings, share, report)
            }),
        }
    };
    let results: Vec<_> = thread::scope(|scope| {
        let threads = devices
            .iter()
            .enumerate()
            .map(|member| scope.spawn(replica(member)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let results = results.into_iter().collect::<Result<Vec<_>, Error>>()?;
    let (accuracy, elapsed) = (results[0].0, results[0].2);
    Ok(Outcome {
        accuracy,
        replicas: results.into_iter().map(|(_, record, _)| record).collect(),
        images: settings.steps(train.len()) * settings.batch,
        elapsed,
    })
}

/// Trains one replica; gives its accuracy (the first one's), its parameters and the time.
fn trained<B: PlainBackend + Readable>(
    mut model: Net<Autodiff<B>>,
    device: &B::Device,
    train: &Digits,
    test: &Digits,
    settings: &Settings,
    share: Share,
    progress: impl Fn(),
) -> Result<(f64, Record, Duration), Error> {
    let start = Instant::now();
    fit(&mut model, device, train, settings, share, progress)?;
    let elapsed = start.elapsed();
    let accuracy = match share.rank {
        0 => accuracy(&model.valid(), device, test)?,
        _ => 0.0,
    };
    Ok((accuracy, model.record()?, elapsed))
}

/// Whether every replica has the same bytes in every parameter and buffer.
pub(crate) fn bit_identical(replicas: &[Record]) -> bool {
    let bytes = |record: &Record| -> Vec<_> {
        let entry = |(path, data): (&String, &TensorData)| {
            (
                path.clone(),
                data.shape().clone(),
                data.dtype(),
                data.to_le_bytes(),
            )
        };
        record.iter().map(entry).collect()
    };
    replicas.windows(2).all(|pair| bytes(&pair[0]) == bytes(&pair[1]))
}

/// The training loop: the same on a local backend, where `sync` is free, and in a group.
fn fit<B: PlainBackend>(
    model: &mut Net<Autodiff<B>>,
    device: &B::Device,
    data: &Digits,
    settings: &Settings,
    share: Share,
    progress: impl Fn(),
) -> Result<(), Error> {
    let mut sgd = SgdConfig::new().with_momentum(MOMENTUM).init();
    let len = settings.batch / share.replicas;
    let epochs = (0..settings.epochs).map(|epoch| shuffled(data.len(), settings.seed, epoch));
    let batches = epochs.flat_map(|order| {
        let batches = order.chunks_exact(settings.batch);
        batches.map(<[usize]>::to_vec).collect::<Vec<_>>()
    });
    for batch in batches.take(settings.max_steps) {
        let (images, labels) = data.batch(&batch[share.rank * len..][..len], device);
        let loss = loss::cross_entropy(model.forward(images), labels, loss::Mean);
        let gradients = loss.backward().sync()?;
        sgd.step(LEARNING_RATE, model, &gradients)?;
        progress();
    }
    Ok(())
}

fn accuracy<B: Readable>(model: &Net<B>, device: &B::Device, data: &Digits) -> Result<f64, Error> {
    let all: Vec<usize> = (0..data.len()).collect();
    let (images, labels) = data.batch::<B>(&all, device);
    let guesses = model.forward(images).argmax(1).flatten::<1>(0, 1);
    let right: f32 = guesses.equal(labels).float().sum().into_scalar()?;
    Ok(f64::from(right) / data.len() as f64)
}
