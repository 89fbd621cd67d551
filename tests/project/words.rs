//! Plain English in comments, documents and texts for users: first words of comments, words to avoid everywhere, and
//! nouns as names of types.

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

/// Words and phrases to avoid in comments, documents and texts.
const AVOIDED: [&str; 23] = [
    "anybody",
    "nobody",
    "somebody",
    "whoever",
    "lies",
    "stands",
    "is told",
    "are told",
    "be told",
    "is said",
    "are said",
    "be said",
    "from which on",
    "that is none",
    "so many",
    "as far as",
    "the begin",
    "anew",
    "for ever",
    "midst",
    "not any more",
    "is none of",
    "where there is none",
];

/// Participles and verbs without a typical ending: no type has one as its name.
const PARTICIPLES: [&str; 24] = [
    "Built", "Cut", "Does", "Done", "Felt", "Found", "Gone", "Heard", "Held", "Kept", "Left",
    "Lost", "Made", "Meant", "Met", "Put", "Read", "Said", "Sent", "Shows", "Spent", "Told",
    "Took", "Unread",
];

/// Endings of other participles.
const ENDINGS: [&str; 3] = ["ed", "en", "own"];

/// Chinese words to avoid in texts, each with the word of the glossary for the same thing.
const CHINESE: [(&str, &str); 25] = [
    ("内核", "kernel"),
    ("张量核", "Tensor Core"),
    ("数据流程", "数据流水线"),
    ("命名空间", "作用域"),
    ("源代码", "源码"),
    ("超参", "超参数"),
    ("基准", "基线"),
    ("内存填充", "memset"),
    ("片段", "时间片"),
    ("每步", "每个迭代"),
    ("该步", "该迭代"),
    ("一步", "一个迭代"),
    ("按步", "按迭代"),
    ("次迭代", "个迭代"),
    ("启动调用", "下发调用"),
    ("启动 kernel", "下发 kernel"),
    ("批大小", "批次大小"),
    ("自身时间", "自身耗时"),
    ("训练前检查", "首批数据检查"),
    ("首批检查", "首批数据检查"),
    ("未判断", "未作判断"),
    ("程序信息", "事实"),
    ("监测内容", "监测点"),
    ("无从比较", "无从对比"),
    ("与基线比较", "与基线对比"),
];

/// Nouns with such an ending.
const NOUNS: [&str; 8] = [
    "Feed", "Markdown", "Need", "Pen", "Screen", "Seed", "Speed", "Token",
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
    found.extend(avoided(&comment.words));
    found
}

/// The avoided words in a text.
fn avoided(text: &[String]) -> Vec<String> {
    let is_found = |avoided: &&&str| {
        let avoided: Vec<&str> = avoided.split(' ').collect();
        text.windows(avoided.len()).any(|window| window == avoided)
    };
    let found = AVOIDED.iter().filter(is_found);
    found
        .map(|avoided| format!("contains `{avoided}`"))
        .collect()
}

/// String literals of a line that are sentences or parts of them: they contain a space. Raw strings of several lines
/// are not examined.
fn texts(line: &str) -> impl Iterator<Item = &str> {
    let is_comment = line.trim_start().starts_with("//");
    let literals = line.split('"').skip(1).step_by(2);
    literals.filter(move |text| !is_comment && text.contains(' '))
}

/// Files of a kind below a folder, without build output.
pub(crate) fn files_below(folder: &Path, kind: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            files_below(&path, kind, files);
        } else if path.extension().is_some_and(|extension| extension == kind) {
            files.push(path);
        }
    }
}

/// Files of a kind in folders of the workspace, with their paths from its root.
fn files_in(folders: &[&str], kind: &str) -> Vec<(String, String)> {
    let root = workspace_root();
    let mut paths = Vec::new();
    for folder in folders {
        files_below(&root.join(folder), kind, &mut paths);
    }
    let name = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    paths
        .iter()
        .map(|path| (name(path), fs::read_to_string(path).unwrap()))
        .collect()
}

fn assert_none(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} places to reword:\n{}",
        violations.len(),
        violations.join("\n")
    );
}

#[test]
fn comments_are_plain_english() {
    let mut found = Vec::new();
    for (path, source) in files_in(&FOLDERS, "rs") {
        for comment in comments(&source) {
            let line = comment.line;
            let of_this = violations(&comment).into_iter();
            found.extend(of_this.map(|violation| format!("{path}:{line}: {violation}")));
        }
    }
    assert_none(&found);
}

#[test]
fn documents_are_plain_english() {
    let mut files = files_in(
        &[
            "docs",
            "tests",
            "summary-format",
            "sample-runs",
            "collector",
        ],
        "md",
    );
    // Comments, docstrings and messages; code has none of these words either.
    for kind in ["py", "pyi", "toml"] {
        files.extend(files_in(&["collector/python", "sample-runs"], kind));
    }
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ] {
        let text = fs::read_to_string(workspace_root().join(name)).unwrap();
        files.push((name.to_owned(), text));
    }
    let mut found = Vec::new();
    for (path, text) in files {
        let mut line = 1;
        for paragraph in text.split("\n\n") {
            let of_this = avoided(&words(paragraph)).into_iter();
            found.extend(of_this.map(|violation| format!("{path}:{line}: {violation}")));
            line += paragraph.matches('\n').count() + 2;
        }
    }
    assert_none(&found);
}

#[test]
fn texts_for_users_are_plain_english() {
    let mut found = Vec::new();
    for (path, source) in files_in(&["collector", "server", "summary-format", "web"], "rs") {
        for (number, line) in (1..).zip(source.lines()) {
            for text in texts(line) {
                let of_this = avoided(&words(text)).into_iter();
                found.extend(of_this.map(|violation| format!("{path}:{number}: {violation}")));
            }
        }
    }
    assert_none(&found);
}

/// The avoided Chinese words in a line of code: all of its Chinese is in string literals.
fn avoided_in_chinese(line: &str) -> Vec<String> {
    let is_comment = line.trim_start().starts_with("//");
    let is_found = |&&(avoided, instead): &&(&str, &str)| {
        !is_comment && line.contains(avoided) && line.replace(instead, "").contains(avoided)
    };
    let found = CHINESE.iter().filter(is_found);
    found
        .map(|(avoided, instead)| format!("contains `{avoided}`, which is `{instead}`"))
        .collect()
}

#[test]
fn chinese_texts_use_one_word_for_one_thing() {
    let mut found = Vec::new();
    for (path, source) in files_in(&["collector", "server", "summary-format", "web"], "rs") {
        for (number, line) in (1..).zip(source.lines()) {
            let of_this = avoided_in_chinese(line).into_iter();
            found.extend(of_this.map(|violation| format!("{path}:{number}: {violation}")));
        }
    }
    assert_none(&found);
}

#[test]
fn avoided_words_are_found_in_chinese_texts() {
    let found = avoided_in_chinese(r#"    hparams = "Hyper-parameters", "超参与超参数";"#);
    assert_eq!(found, ["contains `超参`, which is `超参数`"]);
    assert!(avoided_in_chinese(r#""超参数", "每个迭代""#).is_empty());
}

#[test]
fn comments_of_python_begin_with_a_subject() {
    let mut found = Vec::new();
    for (path, source) in files_in(&["collector/python", "sample-runs"], "py") {
        for (at, line) in source.lines().enumerate() {
            let text = line.trim_start();
            let begins = text
                .strip_prefix("# ")
                .or_else(|| text.strip_prefix("\"\"\""));
            let first = begins.and_then(|text| words(text).into_iter().next());
            if let Some(first) = first.filter(|first| FIRST_WORDS.contains(&first.as_str())) {
                found.push(format!("{path}:{}: begins with `{first}`", at + 1));
            }
        }
    }
    assert_none(&found);
}

#[test]
fn avoided_words_are_found_in_texts() {
    let line = r#"    says: text("it stands still", "静止", "stands"), // "lies here""#;
    let found: Vec<String> = texts(line).flat_map(|text| avoided(&words(text))).collect();
    assert_eq!(found, ["contains `stands`", "contains `lies`"]);
    assert_eq!(texts(r#"// "it stands""#).count(), 0);
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

/// The name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };
    let (keyword, rest) = line.trim_start().split_once(' ')?;
    let is_type = ["struct", "enum", "union", "trait", "type"].contains(&keyword);
    let name = rest
        .split(|letter: char| !letter.is_alphanumeric())
        .next()?;
    (is_type && name.starts_with(char::is_uppercase)).then_some(name)
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(|letter| letter.is_uppercase()).count() == 1;
    let has_ending = ENDINGS.iter().any(|ending| name.ends_with(ending));
    PARTICIPLES.contains(&name) || (is_one_word && has_ending && !NOUNS.contains(&name))
}

#[test]
fn types_are_named_by_nouns() {
    let mut found = Vec::new();
    for (path, source) in files_in(&FOLDERS, "rs") {
        for (number, line) in (1..).zip(source.lines()) {
            let name = declared_type(line).filter(|name| is_participle(name));
            found.extend(name.map(|name| format!("{path}:{number}: `{name}`")));
        }
    }
    assert_none(&found);
}

#[test]
fn participles_are_found_in_every_declaration() {
    let names = [
        ("pub struct Loaded {", true),
        ("pub(in crate::pages) enum Shown {", true),
        ("    type Known<'a> = &'a str;", true),
        ("pub(super) trait Written: Sized {", true),
        ("struct Token(u32);", false),
        ("pub struct LoadedTensor {", false),
        ("    typed: Named,", false),
        ("// enum Seen {", false),
    ];
    for (line, is_refused) in names {
        let name = declared_type(line);
        assert_eq!(name.is_some_and(is_participle), is_refused, "{line}");
    }
}
