// The twin of `fail/15-recorded/through_autodiff.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn read(x: Tensor<Autodiff<Flex>, 1>) {
    let _ = x.into_data();
}

fn main() {}
