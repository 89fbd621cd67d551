//! Plain English in comments: first words and words to avoid, in the folders that are held to it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::lab::workspace_root;

/// Folders whose comments are checked. A folder is added when all of its comments pass.
const FOLDERS: [&str; 6] = [
    "collector",
    "server",
    "summary-format",
    "tests",
    "web",
    "xtask",
];

/// Words that no comment begins with: a comment begins with a noun phrase or a verb in the third person.
const FIRST_WORDS: [&str; 13] = [
    "what",
    "whatever",
    "which",
    "whichever",
    "who",
    "whoever",
    "whose",
    "whom",
    "how",
    "whether",
    "where",
    "wherever",
    "why",
];

/// Words and phrases that no comment contains.
const AVOIDED: [&str; 12] = [
    "anybody", "nobody", "somebody", "whoever", "lies", "stands", "is told", "are told", "be told",
    "is said", "are said", "be said",
];

/// Consecutive comment lines of one kind.
#[derive(Debug, PartialEq)]
struct Comment {
    /// Number of its first line, from 1.
    line: usize,
    /// Words in lower case, without code spans, code blocks and punctuation.
    words: Vec<String>,
}

/// The comments of a source file. Quotation marks before a trailing comment must come in pairs, or it counts as text.
fn comments(source: &str) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    let (mut marker_before, mut text, mut first_line) = (None, String::new(), 0);
    let mut finish = |line: usize, text: &mut String| {
        if !text.is_empty() {
            found.push(Comment {
                line,
                words: words(text),
            });
            text.clear();
        }
    };
    for (number, line) in source.lines().enumerate() {
        let (code, comment) = match line.split_once("//") {
            Some((code, comment)) if code.matches('"').count() % 2 == 0 => (code, comment),
            _ => (line, ""),
        };
        let content = comment.trim_start_matches(['/', '!']);
        if comment.is_empty() {
            finish(first_line, &mut text);
            marker_before = None;
            continue;
        }
        let marker = (code.to_owned(), comment.len() - content.len());
        if !code.trim().is_empty() || marker_before.as_ref() != Some(&marker) {
            finish(first_line, &mut text);
            first_line = number + 1;
        }
        text.push_str(content);
        text.push('\n');
        marker_before = Some(marker);
    }
    finish(first_line, &mut text);
    found
}

fn words(comment: &str) -> Vec<String> {
    let blocks = comment.split("```").step_by(2);
    let prose = blocks.flat_map(|text| text.split('`').step_by(2));
    prose
        .flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric() && letter != '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Violations of the rule in a comment; empty if there are none.
fn violations(comment: &Comment) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(first) = comment.words.first()
        && FIRST_WORDS.contains(&first.as_str())
    {
        found.push(format!("begins with `{first}`"));
    }
    for avoided in AVOIDED {
        let avoided_words: Vec<&str> = avoided.split(' ').collect();
        let mut windows = comment.words.windows(avoided_words.len());
        if windows.any(|window| window == avoided_words) {
            found.push(format!("contains `{avoided}`"));
        }
    }
    found
}

/// Source files below a folder, without build output.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn comments_are_plain_english() {
    let root = workspace_root();
    let mut files = Vec::new();
    for folder in FOLDERS {
        sources(&root.join(folder), &mut files);
    }
    let mut found = Vec::new();
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(&root).unwrap().display();
        for comment in comments(&source) {
            let line = comment.line;
            let of_this = violations(&comment).into_iter();
            found.extend(of_this.map(|violation| format!("{path}:{line}: {violation}")));
        }
    }
    assert!(
        found.is_empty(),
        "{} comments to reword:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn violations_are_found_in_every_kind_of_comment() {
    let source = [
        "//! Where files",
        "//! are told.",
        "fn a() { // Nobody calls it.",
        "    /// Number of steps,",
        "    ///",
        "    /// of which some stands",
        "    b(); // `what` is code",
        "    let url = \"http://host\";",
        "    // Why not.",
        "    // It is",
        "    // said.",
        "}",
        "/// ```",
        "/// who();",
        "/// ```",
    ]
    .join("\n");
    let found: Vec<(usize, Vec<String>)> = comments(&source)
        .iter()
        .map(|comment| (comment.line, violations(comment)))
        .collect();
    let violation = |text: &[&str]| text.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = [
        (
            1,
            violation(&["begins with `where`", "contains `are told`"]),
        ),
        (3, violation(&["contains `nobody`"])),
        (4, violation(&["contains `stands`"])),
        (7, violation(&[])),
        (9, violation(&["begins with `why`", "contains `is said`"])),
        (13, violation(&[])),
    ];
    assert_eq!(found, expected);
}
