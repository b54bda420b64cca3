//! A crate that uses keyway as any other would builds without warnings, with the default profiles and the default
//! `recursion_limit`, and its replicas agree.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn debug() {
    // Debug information would only lengthen the build.
    builds_and_trains(&["--config", "profile.dev.debug=0"], "Flex Mesh<Flex>");
}

/// The feature is keyway's alone: this crate has none of that name.
#[test]
#[ignore = "takes minutes: `cargo test --test downstream -- --ignored`"]
fn with_a_feature() {
    let options = ["--config", "profile.dev.debug=0", "--features", "keyway/ndarray"];
    builds_and_trains(&options, "Flex Mesh<Flex> NdArray Mesh<NdArray>");
}

/// Minutes from cold; `.ci/run` has the time.
#[test]
#[ignore = "takes minutes: `cargo test --test downstream -- --ignored`"]
fn release() {
    builds_and_trains(&["--release"], "Flex Mesh<Flex>");
}

/// The crate itself denies warnings.
fn builds_and_trains(options: &[&str], backends: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let downstream = root.join("ui-tests/downstream");
    // The versions that this crate is tested with.
    fs::copy(root.join("Cargo.lock"), downstream.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .args(options)
        .env("CARGO_TARGET_DIR", root.join("target/downstream"))
        .env_remove("RUSTFLAGS")
        .current_dir(&downstream)
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success() && stderr.is_empty(), "{stdout}{stderr}");
    let lines: Vec<_> = stdout.lines().collect();
    let [flex, host, error, dynamic] = lines[..] else {
        panic!("{stdout}")
    };
    assert!(
        flex.starts_with("Flex: loss ") && flex.ends_with(", 2 members agree"),
        "{stdout}"
    );
    // The backend of that crate computes the same, and says what it cannot.
    assert_eq!(flex.strip_prefix("Flex"), host.strip_prefix("Host"), "{stdout}");
    assert_eq!(dynamic, format!("Dyn: {backends}"));
    assert_eq!(error, "Host: flip on `Host`: no loop gives f32 [3]");
    let [first, last] = ["loss ", " to "].map(|word| {
        let number = flex.split_once(word).unwrap().1;
        number.split([' ', ',']).next().unwrap().parse::<f32>().unwrap()
    });
    assert!(last < first / 2.0, "{stdout}");
}
