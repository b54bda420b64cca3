// The twin of `fail/15-recorded/mesh.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn f(_x: Tensor<Mesh<Flex>, 1>) {}

fn main() {}
