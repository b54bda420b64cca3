//! Runs a program of `examples/`.

use std::process::Command;

/// The exit code, the standard output and the standard error of an example with these arguments and variables.
pub fn example(name: &str, args: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    // Those of this build, so that nothing is built again.
    let compiled_in = [
        ("ndarray", cfg!(feature = "ndarray")),
        ("candle", cfg!(feature = "candle")),
        ("tch", cfg!(feature = "tch")),
    ];
    let features: Vec<_> = compiled_in
        .iter()
        .filter(|(_, on)| *on)
        .map(|(name, _)| *name)
        .collect();
    let output = Command::new(env!("CARGO"))
        .args([
            "run",
            "--quiet",
            "--offline",
            "--example",
            name,
            "--features",
            &features.join(","),
            "--",
        ])
        .args(args)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
