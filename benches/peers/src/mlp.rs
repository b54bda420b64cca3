//! A training step of an MLP 784-512-512-10 with SGD, batch 128 per replica.

use std::thread;
use std::time::Instant;

use keyway::nn::{Linear, LinearConfig};
use keyway::optim::SgdConfig;
use keyway::prelude::*;

use crate::Row;

const BATCH: usize = 128;
const STEPS: usize = 30;

#[derive(Clone, Debug)]
struct Mlp<B: Backend> {
    a: Linear<B>,
    b: Linear<B>,
    c: Linear<B>,
}

keyway::module!(Mlp { a, b, c });

impl<B: Backend> Mlp<B> {
    fn new(device: &B::Device) -> Self {
        Mlp {
            a: LinearConfig::new(784, 512).init(device),
            b: LinearConfig::new(512, 512).init(device),
            c: LinearConfig::new(512, 10).init(device),
        }
    }

    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.c.forward(activation::relu(
            self.b.forward(activation::relu(self.a.forward(x))),
        ))
    }
}

pub fn rows(rows: &mut Vec<Row>) {
    let alone = replica::<Flex>(&Default::default(), Ok);
    rows.push(Row {
        name: "mlp step, 1 replica of 128".into(),
        micros: [Some(alone), None, None],
    });
    let devices = Mesh::<Flex>::open(2).expect("two replicas");
    let replicas: Vec<_> = devices
        .into_iter()
        .map(|device| thread::spawn(move || replica::<Mesh<Flex>>(&device, Mlp::distribute)))
        .collect();
    let together = replicas
        .into_iter()
        .map(|r| r.join().expect("a replica"))
        .fold(0.0, f64::max);
    rows.push(Row {
        name: "mlp step, 2 replicas of 128".into(),
        micros: [Some(together), None, None],
    });
}

type Prepare<B> = fn(Mlp<Autodiff<B>>) -> Result<Mlp<Autodiff<B>>, Error>;

/// Microseconds of a step, best of five rounds.
fn replica<B: PlainBackend>(device: &B::Device, prepare: Prepare<B>) -> f64 {
    let mut model = prepare(Mlp::new(device)).expect("members agree");
    let mut optimizer = SgdConfig::new().init();
    let x = Tensor::random([BATCH, 784], keyway::Distribution::Default, device);
    let targets = Tensor::<Autodiff<B>, 1, i32>::arange(0..BATCH as i64, device) % 10;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..STEPS {
            let loss = loss::cross_entropy(model.forward(x.clone()), targets.clone(), loss::Mean);
            let gradients = loss.backward().sync().expect("members agree");
            optimizer.step(0.1, &mut model, &gradients).expect("a step");
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / STEPS as f64);
    }
    best
}
