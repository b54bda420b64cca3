// E0277: does not hold `f64` elements
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn f(device: &keyway::FlexDevice) {
    let _ = Tensor::<Recorder, 1, f64>::zeros([3], device);
}

fn main() {}
