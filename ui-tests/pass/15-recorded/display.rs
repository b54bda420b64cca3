// The twin of `fail/15-recorded/display.rs`.
#[path = "../../support/recorder.rs"]
mod recorder;

use keyway::prelude::*;
use recorder::Recorder;

fn print(x: Tensor<Flex, 1>) {
    println!("{x}");
}

fn main() {}
