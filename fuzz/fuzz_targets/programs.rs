//! The random programs of `tests/fuzz.rs`, from bytes that libFuzzer chooses by what they reach.

#![no_main]

#[path = "../../tests/program/mod.rs"]
mod program;
#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use program::Program;

fuzz_target!(|program: Program| {
    if let Err(wrong) = program::run(&program) {
        panic!("{wrong}");
    }
});
