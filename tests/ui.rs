//! The compiler's messages are this crate's user interface: every misuse in `ui-tests/fail` must fail in our words, and
//! its twin in `ui-tests/pass`, a few lines away, must compile.
//!
//! Messages are those of the pinned toolchain and the default features.
#![cfg(not(any(feature = "ndarray")))]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checked, not built: trybuild checks all of them at once as long as no case is expected to pass.
#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("ui-tests/fail/*/*.rs");
}

/// Inline const assertions fail only when code is generated: these are built, for which trybuild wants one case that
/// passes.
#[test]
fn misuse_of_ranks_does_not_build() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui-tests/pass-built/23-rank/squeeze.rs");
    cases.compile_fail("ui-tests/fail-built/*/*.rs");
}

/// All twins as the modules of one crate, which is checked once.
#[test]
fn twins_compile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("target/twins");
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"twins\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nkeyway = {{ path = {root:?} }}\n\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut lib = String::from("#![allow(dead_code, unused)]\n");
    for (i, (case, _)) in cases().into_iter().enumerate() {
        lib += &format!("#[path = {:?}]\nmod twin_{i};\n", twin(&case));
    }
    fs::write(folder.join("src/lib.rs"), lib).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline"])
        .env("CARGO_TARGET_DIR", root.join("target/twins/target"))
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The first line of a case is `// CODE: words`, and its message has both. `const` is an assertion that fails when it is
/// built, `lint` a lint that the case denies.
#[test]
fn messages_say_what_they_must() {
    for (case, text) in cases() {
        let (code, words) = header(&case, &text);
        let stderr = fs::read_to_string(case.with_extension("stderr")).unwrap();
        let shown = match code {
            "const" => stderr.contains("error[E0080]"),
            "lint" => stderr.starts_with("error: unused"),
            _ => stderr.starts_with(&format!("error[{code}]")),
        };
        assert!(shown, "{}: the first error is not {code}", case.display());
        assert!(
            stderr.contains(words),
            "{}: the message lacks `{words}`",
            case.display()
        );
        let lines = stderr.lines().count();
        assert!(lines <= 40, "{}: {lines} lines of message", case.display());
    }
}

/// A case that differs from its twin by much could fail for another reason than it says.
#[test]
fn twins_differ_by_a_few_lines() {
    for (case, text) in cases() {
        let twin = twin(&case);
        let good = fs::read_to_string(&twin).unwrap_or_else(|e| panic!("{}: {e}", twin.display()));
        let (bad, good): (BTreeSet<_>, BTreeSet<_>) =
            (text.lines().skip(1).collect(), good.lines().skip(1).collect());
        let differing = bad.symmetric_difference(&good).count();
        assert!(
            (1..=8).contains(&differing),
            "{}: {differing} lines differ",
            case.display()
        );
    }
}

fn cases() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui-tests");
    let mut cases = Vec::new();
    for kind in ["fail", "fail-built"] {
        for promise in fs::read_dir(root.join(kind)).unwrap() {
            for file in fs::read_dir(promise.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|e| e == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    cases.push((path, text));
                }
            }
        }
    }
    cases.sort();
    cases
}

fn header<'a>(case: &Path, text: &'a str) -> (&'a str, &'a str) {
    let line = text.lines().next().and_then(|line| line.strip_prefix("// "));
    line.and_then(|line| line.split_once(": "))
        .unwrap_or_else(|| panic!("{}: no `// CODE: words`", case.display()))
}

fn twin(case: &Path) -> PathBuf {
    let text = case.to_str().unwrap().replace("/ui-tests/fail", "/ui-tests/pass");
    PathBuf::from(text)
}
