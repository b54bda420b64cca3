// The twin of `fail/15-recorded/nonzero.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn read(x: Tensor<Flex, 1>) {
    let _ = x.nonzero();
}

fn main() {}
