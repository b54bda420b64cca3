// E0277: records, it does not execute
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn move_out(x: Tensor<Recorder, 1>, device: &keyway::FlexDevice) {
    let _ = x.to_backend::<Flex>(device);
}

fn main() {}
