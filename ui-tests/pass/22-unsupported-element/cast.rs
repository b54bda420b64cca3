// The twin of `fail/22-unsupported-element/cast.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn f(x: Tensor<Recorder, 1>) {
    let _ = x.cast::<i32>();
}

fn main() {}
