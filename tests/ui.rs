//! The compiler's messages are this crate's user interface: every misuse in `ui-tests/fail` must fail in our words, and
//! its twin in `ui-tests/pass`, a few lines away, must compile.
//!
//! Messages are those of the pinned toolchain and the default features.
#![cfg(not(any(feature = "ndarray", feature = "candle", feature = "tch")))]

use std::collections::{BTreeMap, BTreeSet};
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

/// At least nine messages of ten name the way out. Where types differ in a place that has no bound, such as an argument
/// or an annotated `let`, the compiler says which (E0308) and no more can be said: those are counted apart.
#[test]
fn messages_name_the_way_out() {
    let notes = notes();
    let (mut plain, mut named, mut without) = (0, 0, Vec::new());
    for (case, text) in cases() {
        let stderr = fs::read_to_string(case.with_extension("stderr")).unwrap();
        let names = |line: &str| {
            notes.iter().any(|note| note.is_shown_by(line)) || WAYS_OUT.iter().any(|way| line.contains(way))
        };
        match header(&case, &text).0 {
            "E0308" => plain += 1,
            _ if stderr.lines().any(names) => named += 1,
            _ => without.push(pair(&case)),
        }
    }
    assert!(
        named >= 9 * without.len(),
        "{named} messages name the way out, {plain} are plain E0308, these do not: {without:#?}"
    );
}

/// What else names a way out than our notes: the assertions of ranks, and the compiler where it shows what to write.
const WAYS_OUT: [&str; 5] = [
    ": D2 must ",
    "help: implement the missing item: ",
    "help: ensure that all possible cases are being handled by adding a match arm",
    "which should be handled",
    "the item is gated behind the `",
];

/// No message shows a type that its reader cannot name.
#[test]
fn messages_show_no_private_type() {
    let mut private = BTreeSet::new();
    let mut public = BTreeSet::new();
    for (_, text) in sources() {
        for line in text.lines() {
            for kind in ["struct ", "enum ", "trait "] {
                if let Some((before, name)) = line.split_once(kind) {
                    let name = words(name).next().unwrap().to_string();
                    match before {
                        "pub " => public.insert(name),
                        "" | "    " | "pub(crate) " | "pub(super) " | "    pub " => private.insert(name),
                        _ => false,
                    };
                }
            }
        }
    }
    assert!(private.contains("Sealed"), "{private:?}");
    for (case, _) in cases() {
        let stderr = fs::read_to_string(case.with_extension("stderr")).unwrap();
        let quoted = stderr.split('`').skip(1).step_by(2);
        let words: BTreeSet<_> = quoted.flat_map(words).map(String::from).collect();
        let shown: Vec<_> = private
            .difference(&public)
            .filter(|name| words.contains(*name))
            .collect();
        assert!(shown.is_empty(), "{}: {shown:?}", case.display());
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
}

/// `ui-tests/TABLE.md` is what the folders say: each case is one route to the misuse of its row. `TRYBUILD=overwrite`
/// writes it.
#[test]
fn table_has_each_pair_of_row_and_route_once() {
    let mut rows: BTreeMap<String, BTreeMap<String, (PathBuf, String)>> = BTreeMap::new();
    let mut bodies = BTreeSet::new();
    for (case, text) in cases() {
        let body = text.lines().skip(1).collect::<Vec<_>>().join("\n");
        assert!(bodies.insert(body), "{}: is another case too", case.display());
        let (row, route) = pair(&case);
        let twice = rows.entry(row).or_default().insert(route, (case.clone(), text));
        assert!(twice.is_none(), "{}: another case has its route", case.display());
    }
    let cases: usize = rows.values().map(BTreeMap::len).sum();
    assert!(
        cases >= 100 && rows.len() >= 22,
        "{cases} cases over {} rows",
        rows.len()
    );
    let mut table = format!(
        "# What must not compile\n\n{cases} cases over {} rows; `tests/ui.rs` writes and checks this page.\n\n\
         | row | route | code | the message says |\n|---|---|---|---|\n",
        rows.len()
    );
    let root = root();
    for (row, routes) in &rows {
        for (route, (case, text)) in routes {
            let (code, words) = header(case, text);
            let path = case.strip_prefix(&root).unwrap().display();
            table += &format!("| {row} | [{route}]({path}) | {code} | {words} |\n");
        }
    }
    let path = root.join("TABLE.md");
    if std::env::var("TRYBUILD").is_ok_and(|mode| mode == "overwrite") {
        fs::write(&path, &table).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == table,
        "ui-tests/TABLE.md is not what the folders say; `TRYBUILD=overwrite` writes it"
    );
}

/// The page `keyway::guarantees` names every row, and no other.
#[test]
fn guarantees_page_names_every_row() {
    let rows: BTreeSet<_> = cases().iter().map(|(case, _)| pair(case).0).collect();
    let page = include_str!("../src/guarantees.rs");
    let quoted = page.split(['`', '/']).filter(|text| text.get(2..3) == Some("-"));
    let named: BTreeSet<_> = quoted
        .filter(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        .map(String::from)
        .collect();
    assert_eq!(named, rows);
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

/// A `note` of this crate: what stands between its `{parameters}`.
struct Note(Vec<String>);

impl Note {
    fn is_shown_by(&self, line: &str) -> bool {
        let Some((_, mut rest)) = line.split_once("= note: ") else {
            return false;
        };
        self.0
            .iter()
            .enumerate()
            .all(|(i, part)| match rest.find(part.as_str()) {
                Some(at) if i > 0 || at == 0 => {
                    rest = &rest[at + part.len()..];
                    true
                }
                _ => false,
            })
    }
}

/// The notes of every `on_unimplemented`, which must say what is wrong, where, and the way out, and those of `must_use`.
fn notes() -> Vec<Note> {
    let mut notes = Vec::new();
    for (path, text) in sources() {
        for attribute in text.split("#[diagnostic::on_unimplemented(").skip(1) {
            let attribute = attribute.split("\n)]").next().unwrap();
            for key in ["message = ", "label = ", "note = "] {
                assert!(
                    attribute.contains(key),
                    "{}: no {key}\n{attribute}",
                    path.display()
                );
            }
            notes.extend(attribute.split("note = \"").skip(1).map(note));
        }
        notes.extend(text.split("#[must_use = \"").skip(1).map(note));
    }
    notes
}

/// Reads a note up to its closing quote.
fn note(from: &str) -> Note {
    let text = from.split('"').next().unwrap();
    let lines: Vec<_> = text
        .split("\\\n")
        .enumerate()
        .map(|(i, line)| if i > 0 { line.trim_start() } else { line })
        .collect();
    let text = lines.concat();
    let parts = text
        .split('{')
        .map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    Note(parts.map(String::from).collect())
}

fn sources() -> Vec<(PathBuf, String)> {
    fn read(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => read(&path, files),
                false => files.push((path.clone(), fs::read_to_string(path).unwrap())),
            }
        }
    }
    let mut files = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    files
}

/// The misuse, which is the folder, and the way to it, which is the file.
fn pair(case: &Path) -> (String, String) {
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_string();
    (name(case.parent().unwrap()), name(case))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ui-tests")
}

fn cases() -> Vec<(PathBuf, String)> {
    let root = root();
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
