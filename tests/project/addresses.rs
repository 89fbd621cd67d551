//! Parameters of addresses: each has one constant on a page, and every access goes through it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::boundaries::rust_files;
use crate::support::lab::workspace_root;

/// Calls that define a parameter by its name.
const DEFINITIONS: [&str; 5] = [
    "Key::new(",
    "Key::with(",
    "Key::of_words(",
    "Key::of_items(",
    "Setting::mark(",
];

/// Name of each parameter that a source file defines, its tests left out, and the first line of the item with it.
fn defined(text: &str) -> Vec<(String, String)> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let mut found = Vec::new();
    for call in DEFINITIONS {
        for (at, _) in code.match_indices(call) {
            let name = code[at + call.len()..].trim_start();
            let name = name.strip_prefix('"').and_then(|name| name.split_once('"'));
            let Some((name, _)) = name else { continue };
            let mut before = code[..at].lines().rev();
            let item = before.find(|line| line.starts_with(char::is_alphabetic));
            found.push((name.to_owned(), item.unwrap_or_default().to_owned()));
        }
    }
    found
}

/// The page of a file: all files of a page share its address.
fn page_of(path: &Path, crates: &Path) -> String {
    match path.strip_prefix(crates) {
        Ok(inside) => {
            let inside = inside.with_extension("");
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            format!("{} {}", parts[0], parts[2])
        }
        Err(_) => "kit".to_owned(),
    }
}

#[test]
fn a_parameter_of_an_address_has_one_definition() {
    let web = workspace_root().join("web");
    let mut known: BTreeMap<(String, String), String> = BTreeMap::new();
    for path in rust_files(&web) {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.display().to_string();
        for (name, item) in defined(&text) {
            assert!(
                item.contains("const "),
                "{shown}: the parameter \"{name}\" needs a constant"
            );
            // The list of the kit has those of different pages.
            let page = if shown.ends_with("kit/src/parameters.rs") {
                item
            } else {
                page_of(&path, &web.join("pages"))
            };
            let before = known.insert((page, name.clone()), shown.clone());
            assert_eq!(
                before, None,
                "{shown} defines the parameter \"{name}\" again"
            );
        }
    }
    assert!(known.len() > 100, "only {} parameters found", known.len());
}

#[test]
fn definitions_are_found() {
    let text = "const A: Key<u32> = Key::new(\"a\");\nfn f() {\n    url.param(Key::with(\n        \"b\", r, w));\n}\n#[cfg(test)]";
    let found: Vec<(String, bool)> = defined(text)
        .into_iter()
        .map(|(name, item)| (name, item.contains("const ")))
        .collect();
    assert_eq!(found, [("a".to_owned(), true), ("b".to_owned(), false)]);
}
