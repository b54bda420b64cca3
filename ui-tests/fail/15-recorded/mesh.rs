// E0277: only a `Local` backend can be joined into a `Mesh`
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn f(_x: Tensor<Mesh<Recorder>, 1>) {}

fn main() {}
