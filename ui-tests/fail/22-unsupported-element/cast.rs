// E0277: does not hold `f64` elements
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn f(x: Tensor<Recorder, 1>) {
    let _ = x.cast::<f64>();
}

fn main() {}
