//! Data-parallel training: each member of a group works on a thread of its own.

use std::fmt;
use std::thread;

use keyway::nn::Record;
use keyway::optim::AdamWConfig;
use keyway::prelude::*;
use keyway::{LocalBackend, MeshDevice};

use crate::model::Net;

/// What the members ended with.
pub struct Outcome {
    /// The first and the last loss of the first member.
    pub losses: [f32; 2],
    /// The parameters of each member.
    pub models: Vec<Record>,
}

impl Outcome {
    /// Whether every member ended with the same parameters, bit by bit.
    pub fn members_agree(&self) -> bool {
        self.models.windows(2).all(|pair| pair[0] == pair[1])
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agree = if self.members_agree() { "agree" } else { "differ" };
        let [first, last] = self.losses;
        write!(
            f,
            "loss {first:.3} to {last:.3}, {} members {agree}",
            self.models.len()
        )
    }
}

/// Joins replicas of a local backend into a group and trains them together.
pub fn together<B: LocalBackend<Device: Default>>(members: usize, steps: usize) -> Result<Outcome, Error> {
    let train =
        |device: MeshDevice<B>| move || member::<Mesh<B>>(&device, (device.rank(), device.size()), steps);
    let threads: Vec<_> = Mesh::<B>::open(members)?
        .into_iter()
        .map(train)
        .map(thread::spawn)
        .collect();
    let ends = threads
        .into_iter()
        .map(|thread| thread.join().expect("a member returns its errors"));
    let (losses, models): (Vec<_>, _) = ends.collect::<Result<Vec<_>, Error>>()?.into_iter().unzip();
    Ok(Outcome {
        losses: losses[0],
        models,
    })
}

/// One member's part, on any collective backend: it sees its own examples, and steps by the gradients of all.
fn member<B: PlainBackend + CollectiveBackend + Readable>(
    device: &B::Device,
    (rank, size): (usize, usize),
    steps: usize,
) -> Result<([f32; 2], Record), Error> {
    let mut model = Net::<Autodiff<B>>::new(2, device).distribute()?;
    let mut adam = AdamWConfig::new().init();
    let (x, y) = examples(rank, size, device)?;
    let mut losses = Vec::new();
    for _ in 0..steps {
        let loss = loss::mse(model.forward(x.clone()), y.clone(), loss::Mean);
        losses.push(loss.clone().into_scalar()?);
        adam.step(0.02, &mut model, &loss.backward().sync()?)?;
    }
    Ok(([losses[0], losses[losses.len() - 1]], model.record()?))
}

/// The pairs whose product is to be learnt: every `size`-th point of a grid.
fn examples<B: Backend>(
    rank: usize,
    size: usize,
    device: &B::Device,
) -> Result<(Tensor<B, 2>, Tensor<B, 2>), Error> {
    let points = (rank..64)
        .step_by(size)
        .map(|i| [(i % 8) as f32 / 4.0 - 1.0, (i / 8) as f32 / 4.0 - 1.0]);
    let (x, y): (Vec<_>, Vec<_>) = points.map(|[a, b]| ([a, b], a * b)).unzip();
    let rows = y.len();
    let x = Tensor::try_from_data(TensorData::new(x.concat(), [rows, 2])?, device)?;
    Ok((x, Tensor::try_from_data(TensorData::new(y, [rows, 1])?, device)?))
}
