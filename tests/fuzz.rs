//! Random programs on `DynTensor`s: no panic, and the right value or the right error at every step.
//!
//! `cargo test` runs them for a few seconds, `PROPTEST_CASES` as many as it says; `fuzz/` runs them under libFuzzer.

mod program;
mod support;

use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Unstructured};
use program::Program;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How long the test may take, unless `PROPTEST_CASES` is set.
const TIME: Duration = Duration::from_secs(8);

#[test]
fn random_programs() {
    let counted = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config {
        failure_persistence: None,
        ..if counted {
            Config::default()
        } else {
            Config::with_cases(20_000)
        }
    };
    // Always the same programs, unless a number of them is asked for.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = if counted {
        TestRunner::new(config)
    } else {
        TestRunner::new_with_rng(config, rng)
    };
    let start = Instant::now();
    let program =
        |bytes: Vec<u8>| Program::arbitrary(&mut Unstructured::new(&bytes)).expect("any bytes are a program");
    let programs = prop::collection::vec(any::<u8>(), 0..400).prop_map(program);
    let result = runner.run(&programs, |program| {
        if !counted && start.elapsed() > TIME {
            return Ok(());
        }
        program::run(&program).map_err(TestCaseError::fail)
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
