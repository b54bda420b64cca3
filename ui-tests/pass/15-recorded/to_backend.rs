// The twin of `fail/15-recorded/to_backend.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn move_out(x: Tensor<Flex, 1>, device: &keyway::FlexDevice) {
    let _ = x.to_backend::<Flex>(device);
}

fn main() {}
