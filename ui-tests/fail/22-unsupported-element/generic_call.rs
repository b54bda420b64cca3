// E0277: does not hold `f64` elements
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn train<B: Backend + Supports<f64>>(_device: &B::Device) {}

fn main() {
    train::<Recorder>(&Default::default());
}
