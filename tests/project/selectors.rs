//! Browser tests find elements by role, accessible name, text or `data-*`: a style class may change with the style.

use std::fs;
use std::sync::LazyLock;

use proc_macro2::{TokenStream, TokenTree};
use regex::Regex;

use super::words::files_below;
use crate::support::lab::workspace_root;

/// Folders with programs that drive a browser, as those do that name this type.
const FOLDERS: [&str; 2] = ["tests", "xtask/bench/src"];
const DRIVER: &str = "Browser";

/// A class in a selector without attributes: at its start, after a combinator, a bracket, a placeholder, a pseudo-class
/// or an element. `fc1.weight` is the name of a tensor.
static CLASS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s>+~,(\])}]|:[a-z-]+|(?:^|[^\w.-])(?:a|b|button|canvas|details|div|figure|form|h[1-6]|i|img|input|li|main|nav|ol|p|path|pre|section|select|span|svg|table|tbody|td|textarea|th|thead|tr|ul))\.(?<name>[a-z][a-z0-9_-]*)(?:$|[^\w(/.-]|\.[a-z])").unwrap()
});
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[[^\]]*\]").unwrap());
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"'[^']*'|"[^"]*"|`[^`]*`"#).unwrap());
/// Extensions of files.
const EXTENSIONS: [&str; 2] = ["npy", "png"];
/// Parts of a script; only its quoted texts can be selectors.
const OF_SCRIPT: [&str; 4] = ["document", "=>", ";", "return "];
/// Properties of elements with classes.
const OF_CLASSES: [&str; 2] = ["className", "classList"];

/// True if a string literal finds elements by a class.
fn uses_class(literal: &str) -> bool {
    // A path or an address is not a selector.
    let finds_class = |text: &str| {
        let text = ATTRIBUTE.replace_all(text, "[]");
        let mut classes = CLASS.captures_iter(&text);
        !text.contains('/') && classes.any(|class| !EXTENSIONS.contains(&&class["name"]))
    };
    if OF_SCRIPT.iter().any(|part| literal.contains(part)) {
        let mut texts = QUOTED.find_iter(literal).map(|quoted| quoted.as_str());
        texts.any(|text| finds_class(&text[1..text.len() - 1]))
            || OF_CLASSES.iter().any(|name| literal.contains(name))
    } else {
        finds_class(literal)
    }
}

/// String literals of a source, as they are written but for escaped quotation marks.
fn literals(tokens: TokenStream, found: &mut Vec<String>) {
    let mut is_attribute = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) if !is_attribute => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string().replace("\\\"", "\"");
                let text = text.trim_start_matches(['r', '#']).trim_end_matches('#');
                let inner = text
                    .strip_prefix('"')
                    .and_then(|text| text.strip_suffix('"'));
                found.extend(inner.map(str::to_owned));
            }
            _ => {}
        }
        is_attribute = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '#');
    }
}

#[test]
fn elements_are_not_found_by_style_classes() {
    let root = workspace_root();
    let mut files = Vec::new();
    for folder in FOLDERS {
        files_below(&root.join(folder), "rs", &mut files);
    }
    let mut found = Vec::new();
    let mut drivers = 0;
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        if !source.contains(DRIVER) || path.ends_with("project/selectors.rs") {
            continue;
        }
        drivers += 1;
        let mut all = Vec::new();
        literals(source.parse().unwrap(), &mut all);
        all.retain(|literal| uses_class(literal));
        let path = path.strip_prefix(&root).unwrap().display();
        found.extend(all.iter().map(|literal| format!("{path}: {literal}")));
    }
    assert!(drivers > 15, "{drivers}");
    assert!(
        found.is_empty(),
        "find these by role, label, text or `data-*` (tests/README.md):\n{}",
        found.join("\n")
    );
}

#[test]
fn classes_are_told_from_names_numbers_and_code() {
    for text in [
        ".toolbar .seg button:nth-child(4)",
        "tr.hit-row[aria-selected=true]",
        "[data-card='scalars'] .body > *",
        "i.at:is(.nan, .pinf)",
        "{mine}.off",
        "li:first-child.cur",
        "a[title='x.y'].link",
        "return document.querySelector('.insp h2').textContent",
        "document.querySelectorAll(\"tr.hit-row\").length == 1",
        "const row = of(`td.c-name`);",
        "row => row.className",
    ] {
        assert!(uses_class(text), "{text}");
    }
    for text in [
        "section[data-tag='fc1.weight'] canvas",
        "fc1.weight.grad",
        "events.out.tfevents.176000000{number}.host.1.0",
        "/partly checked/.test({row}.textContent)",
        "return {list}.scrollHeight",
        "steps/1/layer{:02}.part{number:04}.npy",
        "{name}.npy",
        "/run/run/debugger?hit=tensor_overflow:no.such:0",
        "It ends at 0.5. Then",
        "document.querySelector('main').clientHeight",
    ] {
        assert!(!uses_class(text), "{text}");
    }
    let mut found = Vec::new();
    let source = "/// `.doc`\nfn f() { g(\"a \\\"b\\\"\", r#\"c \"d\"\"#, 'e', 1); }";
    literals(source.parse().unwrap(), &mut found);
    assert_eq!(found, ["a \"b\"", "c \"d\""]);
}
