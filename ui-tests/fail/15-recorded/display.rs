// E0277: records, it does not execute
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn print(x: Tensor<Recorder, 1>) {
    println!("{x}");
}

fn main() {}
