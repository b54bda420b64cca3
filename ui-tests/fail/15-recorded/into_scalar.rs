// E0277: records, it does not execute
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn read(x: Tensor<Recorder, 1>) {
    let _ = x.into_scalar();
}

fn main() {}
