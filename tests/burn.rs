//! The page "Coming from Burn" answers every public function of Burn's tensor API once (`tests/reference/burn.txt`, which
//! `burn.py` made of Burn's sources). What a function is called here is a link, which `cargo doc` follows: with warnings denied
//! it fails for a name that is no longer there.

use std::collections::BTreeSet;

const PAGE: &str = include_str!("../src/coming_from_burn.md");
const BURN: &str = include_str!("reference/burn.txt");

/// A row of the page's tables of functions: module and name in Burn, what answers it, the difference.
fn rows() -> Vec<[&'static str; 4]> {
    let (_, tables) = PAGE.split_once("\n# Functions\n").expect("the tables");
    let mut module = "";
    let mut rows = vec![];
    for line in tables.lines() {
        if let Some(heading) = line.strip_prefix("## `") {
            module = heading.split('`').next().unwrap();
        } else if let Some(row) = line.strip_prefix("| `") {
            let [name, here, difference] = row.trim_end_matches('|').splitn(3, " | ").collect::<Vec<_>>()[..]
            else {
                panic!("not a row of three: {line}");
            };
            rows.push([module, name.trim_end_matches('`'), here.trim(), difference.trim()]);
        }
    }
    rows
}

#[test]
fn every_function_of_burn_is_answered_once() {
    let rows = rows();
    let answered: BTreeSet<_> = rows.iter().map(|&[module, name, ..]| (module, name)).collect();
    assert_eq!(answered.len(), rows.len(), "a function stands twice on the page");
    let burn = BURN.lines().filter(|line| !line.starts_with('#'));
    let burn: BTreeSet<_> = burn.map(|line| line.split_once(' ').unwrap()).collect();
    assert!(burn.len() > 400);
    let (missing, stale) = (burn.difference(&answered), answered.difference(&burn));
    let (missing, stale): (Vec<_>, Vec<_>) = (missing.collect(), stale.collect());
    assert!(
        missing.is_empty() && stale.is_empty(),
        "missing {missing:?}, stale {stale:?}"
    );
}

#[test]
fn what_answers_is_a_link_and_what_lacks_says_why() {
    for [module, name, here, difference] in rows() {
        match here {
            "–" => assert!(!difference.is_empty(), "{module} {name} says not why"),
            _ => assert!(
                here.starts_with("[`") && here.ends_with([']', ')']),
                "{module} {name}: {here}"
            ),
        }
        // Of another name there must be a word on it.
        let same = here.trim_end_matches("`]").rsplit("::").next() == Some(name)
            || here.contains(&format!("`{name}`"));
        assert!(
            same || !difference.is_empty(),
            "{module} {name}: {here} without a difference"
        );
    }
}
