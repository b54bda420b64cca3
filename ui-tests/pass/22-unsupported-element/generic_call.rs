// The twin of `fail/22-unsupported-element/generic_call.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn train<B: Backend + Supports<f64>>(_device: &B::Device) {}

fn main() {
    train::<Flex>(&Default::default());
}
