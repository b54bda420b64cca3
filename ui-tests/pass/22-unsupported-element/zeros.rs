// The twin of `fail/22-unsupported-element/zeros.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn f(device: &keyway::FlexDevice) {
    let _ = Tensor::<Recorder, 1, f32>::zeros([3], device);
}

fn main() {}
