//! Every public function of the typed surface has an example in its documentation. That the examples hold is for `rustdoc` to
//! test; it does not ask, outside nightly, that there are any.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_public_function_has_an_example() {
    let mut functions = Vec::new();
    for folder in ["src/tensor", "src/nn", "src/optim"] {
        for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)) {
            functions.extend(read(&fs::read_to_string(file).unwrap()));
        }
    }
    // Far fewer would mean that the sources are not understood.
    assert!(functions.len() > 300, "{} functions found", functions.len());
    functions.retain(|(_, has_example)| !has_example);
    assert!(functions.is_empty(), "without an example: {functions:?}");
}

#[test]
fn a_missing_example_is_found() {
    let source = r#"
macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident $(=> $prints:literal)?;)*) => { $(
        $(#[$doc])*
        $(
            #[doc = example!($prints)]
        )?
        pub fn $name(self) {}
    )* };
}
macro_rules! whole {
    ($($name:ident;)*) => { $(
        #[doc = example!(1.0)]
        pub fn $name(self) {}
    )* };
}
impl Tensor {
    /// ```
    /// ```
    #[track_caller]
    pub fn with<const D: usize>() {}
    /// Words.
    pub fn without() {}
    fn private() {}
    rows! {
        /// ```
        row_with;
        /// Words.
        row_with_values => "1.0";
        /// Words.
        row_without;
    }
    whole! {
        by_the_macro;
    }
}
"#;
    let lacking = read(source).into_iter().filter(|(_, has)| !has);
    assert!(lacking.map(|(name, _)| name).eq(["without", "row_without"]));
}

/// The public functions of a source, those that the rows of a macro name among them, and whether each has an example. It goes
/// by lines, as `rustfmt` sets them.
fn read(source: &str) -> Vec<(String, bool)> {
    let mut functions = Vec::new();
    let mut by_rows = HashMap::new();
    let mut docs = String::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        let end = format!("{}}}", &line[..line.len() - text.len()]);
        let mut body = || -> Vec<&str> { lines.by_ref().take_while(|line| **line != end).collect() };
        if let Some(name) = text.strip_prefix("macro_rules! ") {
            if let Some(values) = examples_in_rows(&body()) {
                by_rows.insert(name.trim_end_matches(" {"), values);
            }
        } else if let Some(&values) = text.strip_suffix("! {").and_then(|name| by_rows.get(name)) {
            functions.extend(rows(&body(), values));
        } else if let Some(function) = text.strip_prefix("pub fn ") {
            functions.push((first_word(function), docs.contains("```")));
        }
        match text.starts_with("//") || text.starts_with('#') {
            true => docs.push_str(text),
            false => docs.clear(),
        }
    }
    functions
}

/// `None` for a macro that makes an example for each public function, as it does in lines that are not indented. Else the rows
/// have them: in their documentation or, where the macro makes one of the values that end a row, as those.
fn examples_in_rows(definition: &[&str]) -> Option<bool> {
    let count = |is: &dyn Fn(&str) -> bool| definition.iter().filter(|line| is(line)).count();
    let functions = count(&|line| line.starts_with("        pub fn $"));
    let always = count(&|line| line.starts_with("        #[doc = example!("));
    let at_times = count(&|line| line.trim_start().starts_with("#[doc = example!("));
    (functions > always).then_some(functions <= at_times)
}

/// The functions that the rows of a macro name, and whether each has an example.
fn rows(body: &[&str], values: bool) -> Vec<(String, bool)> {
    let mut functions = Vec::new();
    let (mut docs, mut row) = (String::new(), String::new());
    for line in body.iter().map(|line| line.trim()) {
        match line.starts_with("//") {
            true => docs.push_str(line),
            false => row.push_str(line),
        }
        if row.ends_with(';') {
            let has_example = docs.contains("```") || (values && row.contains("=> \""));
            functions.push((first_word(&row), has_example));
            docs.clear();
            row.clear();
        }
    }
    functions
}

fn first_word(text: &str) -> String {
    let word = |c: &char| c.is_alphanumeric() || *c == '_';
    text.trim_start().chars().take_while(word).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .collect()
}
