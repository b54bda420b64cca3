// The twin of `fail/22-unsupported-element/through_autodiff.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn f(device: &keyway::FlexDevice) {
    let _ = Tensor::<Autodiff<Recorder>, 1, f32>::ones([3], device);
}

fn main() {}
