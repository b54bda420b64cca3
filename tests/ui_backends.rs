//! What must not compile on backends that a feature brings: cases in `ui-tests/<feature>/fail`, each with a twin in `pass`
//! that does compile, as a module of this test.
//!
//! Messages are those of the pinned toolchain, and the same whichever other features are on. `ui.rs` holds all else that
//! must not compile, with the default features.
#![cfg(any(feature = "candle", feature = "tch"))]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[cfg(feature = "candle")]
#[path = "../ui-tests/candle/pass/mod.rs"]
mod candle;
#[cfg(feature = "tch")]
#[path = "../ui-tests/tch/pass/mod.rs"]
mod tch;

const BACKENDS: &[&str] = &[
    #[cfg(feature = "candle")]
    "candle",
    #[cfg(feature = "tch")]
    "tch",
];

#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    for backend in BACKENDS {
        cases.compile_fail(format!("ui-tests/{backend}/fail/*.rs"));
    }
}

/// The first line of a case is `// CODE: words`: what its message has.
#[test]
fn messages_say_what_they_must() {
    for case in BACKENDS.iter().flat_map(|backend| cases(backend)) {
        let text = fs::read_to_string(&case).unwrap();
        let header = text.lines().next().and_then(|line| line.strip_prefix("// "));
        let (code, words) = header
            .and_then(|header| header.split_once(": "))
            .unwrap_or_else(|| panic!("{}: no `// CODE: words`", case.display()));
        let stderr = fs::read_to_string(case.with_extension("stderr")).unwrap();
        assert!(
            stderr.starts_with(&format!("error[{code}]")) && stderr.contains(words),
            "{}: no {code} that says `{words}`",
            case.display()
        );
    }
}

/// Each case has a twin that is compiled, and differs from it by little.
#[test]
fn each_case_has_a_twin() {
    for backend in BACKENDS {
        let cases = cases(backend);
        assert!(!cases.is_empty(), "{backend} has no cases");
        let twins = root().join(backend).join("pass");
        let names: BTreeSet<_> = cases
            .iter()
            .filter_map(|case| case.file_stem()?.to_str().map(|name| format!("mod {name};")))
            .collect();
        let modules = fs::read_to_string(twins.join("mod.rs")).unwrap();
        let modules = modules.lines().filter(|line| line.starts_with("mod "));
        assert_eq!(modules.map(String::from).collect::<BTreeSet<_>>(), names);
        for case in cases {
            let lines = |path: &Path| -> BTreeSet<String> {
                let text = fs::read_to_string(path).unwrap();
                text.lines().skip(1).map(String::from).collect()
            };
            let twin = twins.join(case.file_name().unwrap());
            let differing = lines(&case).symmetric_difference(&lines(&twin)).count();
            assert!(
                (1..=4).contains(&differing),
                "{}: {differing} lines differ",
                case.display()
            );
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ui-tests")
}

fn cases(backend: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join(backend).join("fail")).unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    files
}
