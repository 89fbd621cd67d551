//! The documents: links have a target, commands have the options that they name, and the reference of conditions is the
//! catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use trainscope_analysis::watchpoint::CONDITIONS;
use trainscope_analysis::watchpoint::catalogue::{Condition, Need, Parameter, Range, Target};
use trainscope_analysis::watchpoint::config::name_of;

use crate::support::lab::workspace_root;

/// Maximum number of lines of README.
const MAX_README_LINES: usize = 220;

/// Set to rewrite the reference of conditions instead of comparing it.
const REWRITE: &str = "TRAINSCOPE_WRITE_DOCS";

/// The reference of conditions.
const CONDITIONS_PAGE: &str = "docs/src/checking/conditions.md";

/// A document and its text.
struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    fn read(path: PathBuf) -> Self {
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, text }
    }

    /// Path below the root of the workspace.
    fn name(&self) -> String {
        let path = self.path.strip_prefix(workspace_root()).unwrap();
        path.display().to_string()
    }

    fn events(&self) -> Parser<'_> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES)
    }

    /// Addresses of links and pictures.
    fn links(&self) -> Vec<String> {
        self.events()
            .filter_map(|event| match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    Some(dest_url.to_string())
                }
                _ => None,
            })
            .collect()
    }

    /// Names of headings in addresses, as GitHub and mdBook make them.
    fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        let mut heading: Option<String> = None;
        for event in self.events() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    anchors.extend(heading.take().as_deref().map(anchor));
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        anchors
    }

    /// Lines of code: those of blocks, where a line that ends with `\` continues in the next one, and code in
    /// sentences.
    fn code(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut block: Option<String> = None;
        for event in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
                Event::End(TagEnd::CodeBlock) => {
                    let text = block.take().unwrap_or_default().replace("\\\n", " ");
                    lines.extend(text.lines().map(str::to_owned));
                }
                Event::Text(text) => {
                    if let Some(block) = &mut block {
                        block.push_str(&text);
                    }
                }
                Event::Code(text) => lines.push(text.to_string()),
                _ => {}
            }
        }
        lines
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(
        |c: char| !c.is_alphanumeric() && !matches!(c, ' ' | '-' | '_'),
        "",
    );
    kept.replace(' ', "-")
}

/// README, the book and the other documents for people.
fn documents() -> Vec<Document> {
    let root = workspace_root();
    let mut paths: Vec<PathBuf> = [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "tests/README.md",
        "tests/fixtures/README.md",
        "summary-format/FORMAT.md",
    ]
    .map(|name| root.join(name))
    .to_vec();
    paths.extend(markdown_below(&root.join("docs")));
    paths.into_iter().map(Document::read).collect()
}

fn markdown_below(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path != workspace_root().join("docs/book") {
            paths.extend(markdown_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

#[test]
fn links_and_pictures_lead_to_files_and_headings_that_are_there() {
    let mut checked = 0;
    for document in documents() {
        for link in document.links() {
            if link.contains("://") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() {
                document.path.clone()
            } else {
                document.path.parent().unwrap().join(path)
            };
            assert!(target.exists(), "{} links to {link}", document.name());
            if !heading.is_empty() {
                let anchors = Document::read(target).anchors();
                assert!(
                    anchors.contains(heading),
                    "{} links to {link}, and the headings there are {anchors:?}",
                    document.name()
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked} links");
}

#[test]
fn paths_of_sources_that_are_named_in_sentences_exist() {
    let roots = [
        "collector/",
        "docs/src/",
        "sample-runs/",
        "server/",
        "summary-format/",
        "tests/",
        "web/kit/",
        "web/pages/",
        "web/src/",
        "xtask/",
    ];
    let mut checked = 0;
    for document in documents() {
        let name = document.name();
        if name != "CONTRIBUTING.md" && !name.starts_with("docs/") {
            continue;
        }
        for code in document.code() {
            let is_path = roots.iter().any(|root| code.starts_with(root));
            if is_path && !code.contains([' ', '*', '<']) {
                assert!(workspace_root().join(&code).exists(), "{name} names {code}");
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked} paths");
}

#[test]
fn the_summary_of_the_book_lists_every_page() {
    let book = workspace_root().join("docs/src");
    let summary = Document::read(book.join("SUMMARY.md"));
    let listed: BTreeSet<PathBuf> = summary
        .links()
        .iter()
        .map(|link| book.join(link.trim_start_matches("./")))
        .collect();
    let mut pages: BTreeSet<PathBuf> = markdown_below(&book).into_iter().collect();
    pages.remove(&summary.path);
    assert_eq!(listed, pages);
}

#[test]
fn readme_is_short_and_counts_the_conditions_right() {
    let readme = Document::read(workspace_root().join("README.md"));
    let lines = readme.text.lines().count();
    assert!(lines <= MAX_README_LINES, "README has {lines} lines");
    let count = format!("{} conditions", CONDITIONS.len());
    assert!(readme.text.contains(&count), "README does not say {count}");
}

/// Options of each command, by its name, as `--help` prints them; those of all commands together under an empty name.
fn options() -> BTreeMap<String, BTreeSet<String>> {
    let help = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_trainscope");
        let printed = Command::new(program).args(arguments).output().unwrap();
        String::from_utf8(printed.stdout).unwrap()
    };
    let whole = help(&["--help"]);
    let commands = whole.split("Commands:").nth(1).unwrap();
    let commands = commands.lines().skip(1).take_while(|line| !line.is_empty());
    let mut all = BTreeSet::from(["--version".to_owned(), "-V".to_owned()]);
    let mut options = BTreeMap::new();
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        let text = if command == "help" {
            String::new()
        } else {
            help(&[command, "--help"])
        };
        let found: BTreeSet<String> = text
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .flat_map(str::split_whitespace)
            .map(|word| word.trim_end_matches(','))
            .filter(|word| word.len() > 1 && word.starts_with('-'))
            .map(str::to_owned)
            .collect();
        all.extend(found.iter().cloned());
        options.insert(command.to_owned(), found);
    }
    options.insert(String::new(), all);
    options
}

/// The words of a line as a shell splits them, with a quoted command of trainscope split again.
fn shell_words(line: &str) -> Vec<String> {
    let plain = || line.split_whitespace().map(str::to_owned).collect();
    let words = shlex::split(line).unwrap_or_else(plain);
    let parts = words.iter().flat_map(|word| {
        if word.contains("trainscope ") {
            word.split_whitespace().map(str::to_owned).collect()
        } else {
            vec![word.clone()]
        }
    });
    parts.collect()
}

/// The words of a shell that belong to one command: up to a separator, a redirection or a comment.
fn command_words<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let ends = |word: &str| {
        matches!(word, "&&" | "||" | "|" | ";" | "&" | ">" | "2>") || word.starts_with('#')
    };
    words.take_while(|word| !ends(word)).collect()
}

#[test]
fn every_option_of_trainscope_that_a_document_names_is_one() {
    let options = options();
    let mut checked = 0;
    for document in documents() {
        // Its entries name options of former versions too.
        if document.name() == "CHANGELOG.md" {
            continue;
        }
        for line in document.code() {
            let words = shell_words(&line);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let is_program = |word: &&str| *word == "trainscope" || word.ends_with("/trainscope");
            let mut named: Vec<(&str, Vec<&str>)> = Vec::new();
            if line.starts_with('-') && line.len() > 1 {
                named.push(("", command_words(words.iter().copied())));
            }
            for at in (0..words.len()).filter(|at| is_program(&words[*at])) {
                let rest = command_words(words[at + 1..].iter().copied());
                let Some((command, rest)) = rest.split_first() else {
                    continue;
                };
                if options.contains_key(*command) {
                    named.push((command, rest.to_vec()));
                } else if at == 0 {
                    assert!(
                        command.starts_with('-'),
                        "{}: there is no command {command}: {line}",
                        document.name()
                    );
                    named.push(("", vec![command]));
                }
            }
            for (command, words) in named {
                let known = &options[command];
                // Words after a bare `--` belong to another program.
                for word in words.into_iter().take_while(|word| *word != "--") {
                    let word = word.trim_matches(|c| matches!(c, '\'' | '"' | '`' | '[' | ']'));
                    let option = word.split('=').next().unwrap();
                    // Infinities, ranges and terms of filters begin with a dash too.
                    let is_long = option.starts_with("--") && option.len() > 2;
                    let letter = option.strip_prefix('-').unwrap_or_default();
                    let is_short = letter.len() == 1 && letter.starts_with(char::is_alphabetic);
                    let is_option = is_long || is_short;
                    if is_option {
                        assert!(
                            known.contains(option),
                            "{}: `trainscope {command}` has no option {option}: {line}",
                            document.name()
                        );
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 100, "{checked} options");
}

#[test]
fn check_prints_of_the_sample_runs_what_documents_show() {
    let mut shown = 0;
    for document in documents() {
        for block in document.text.split("```console\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let (command, text) = block.split_once('\n').unwrap();
            let Some(run) = command.strip_prefix("$ trainscope check sample-runs/") else {
                continue;
            };
            let printed = Command::new(env!("CARGO_BIN_EXE_trainscope"))
                .args(["check", &format!("sample-runs/{run}")])
                .current_dir(workspace_root())
                .output()
                .unwrap();
            let printed = String::from_utf8(printed.stdout).unwrap();
            for part in text.split('…') {
                assert!(printed.contains(part.trim_matches('\n')), "{part}{printed}");
            }
            shown += 1;
        }
    }
    assert!(shown > 3, "{shown}");
}

#[test]
fn every_block_of_code_names_its_language() {
    // Those without a name in a document that rustdoc compiles would be Rust.
    let is_for_users = |name: &str| name.starts_with("docs/") || name == "README.md";
    for document in documents() {
        if !is_for_users(&document.name()) {
            continue;
        }
        for event in document.events() {
            if let Event::Start(Tag::CodeBlock(kind)) = event {
                let is_named = matches!(&kind, CodeBlockKind::Fenced(name) if !name.is_empty());
                assert!(is_named, "{} has a block without one", document.name());
            }
        }
    }
}

#[test]
fn the_list_of_tests_names_every_file_of_tests() {
    let folder = workspace_root().join("tests");
    let list = Document::read(folder.join("README.md"));
    let is_rust = |name: &str| {
        Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "rs")
    };
    let listed: BTreeSet<String> = list
        .links()
        .into_iter()
        .filter(|link| is_rust(link))
        .collect();
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    let mut files = BTreeSet::new();
    for group in names(&folder) {
        if !folder.join(&group).is_dir() || ["fixtures", "support"].contains(&&*group) {
            continue;
        }
        let inside = names(&folder.join(&group)).into_iter();
        files.extend(inside.map(|name| format!("{group}/{name}")));
    }
    assert_eq!(listed, files);
}

#[test]
fn the_reference_of_conditions_is_the_catalogue() {
    let path = workspace_root().join(CONDITIONS_PAGE);
    let page = reference();
    if std::env::var_os(REWRITE).is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "{CONDITIONS_PAGE} is not what the catalogue says; write it again with\n  \
         {REWRITE}=1 cargo test -p trainscope --test workspace docs::the_reference"
    );
}

/// Targets with their headings.
const TARGETS: [(Target, &str); 7] = [
    (Target::Tensor, "Any tensor"),
    (Target::Weight, "Weights"),
    (Target::Gradient, "Gradients"),
    (Target::Activation, "Activations"),
    (Target::Scalar, "Scalars"),
    (Target::Run, "Ranks, and the run as a whole"),
    (Target::Profile, "Profiles"),
];

/// The page of all conditions.
fn reference() -> String {
    let mut page = format!(
        "# Conditions\n\n\
         The {} conditions that a watchpoint can check. This page is made from the catalogue of the program: do not edit \
         it. `trainscope check --list-conditions` and `trainscope check --explain CONDITION` print the same.\n\n\
         [Watchpoints](watchpoints.md) explains the file, the keys that every condition takes, and the words used here.\n\n",
        CONDITIONS.len()
    );
    page.push_str(
        "| condition | finds | severity | recommended | needs |\n| --- | --- | --- | --- | --- |\n",
    );
    for condition in CONDITIONS {
        let id = condition.id;
        let is_recommended = if condition.recommended { "yes" } else { "no" };
        let (finds, severity) = (cell(condition.en.says), name_of(condition.severity));
        let needs = needs(condition);
        writeln!(
            page,
            "| [`{id}`](#{id}) | {finds} | {severity} | {is_recommended} | {needs} |"
        )
        .unwrap();
    }
    for (target, heading) in TARGETS {
        write!(page, "\n## {heading}\n").unwrap();
        for condition in CONDITIONS
            .iter()
            .filter(|condition| condition.target == target)
        {
            describe(condition, &mut page);
        }
    }
    page
}

fn describe(condition: &Condition, page: &mut String) {
    let severity = name_of(condition.severity);
    let set = if condition.recommended {
        "In the recommended set."
    } else {
        "Not in the recommended set."
    };
    write!(page, "\n### `{}`\n\n", condition.id).unwrap();
    writeln!(
        page,
        "{}. Severity: {severity}. {set}",
        first_upper(&escape(condition.en.says))
    )
    .unwrap();
    for (heading, text) in [
        ("Checks", condition.en.checks),
        ("Why it matters", condition.en.matters),
        ("Not judged when", condition.en.not_judged),
        ("What to do", condition.en.advice),
    ] {
        if !text.is_empty() {
            write!(page, "\n**{heading}:** {}\n", escape(text)).unwrap();
        }
    }
    if !condition.parameters.is_empty() {
        page.push_str("\n| parameter | meaning | default | allowed |\n| --- | --- | --- | --- |\n");
    }
    for parameter in condition.parameters {
        let (name, meaning) = (parameter.name, cell(parameter.text.en));
        let (default, allowed) = (default_of(condition, parameter), parameter.range.words());
        writeln!(page, "| `{name}` | {meaning} | {default} | {allowed} |").unwrap();
    }
    let others = [
        ("warmup", condition.warmup, 0),
        ("patience", condition.patience, 1),
        ("cooldown", condition.cooldown, 0),
    ];
    let others = others.iter().filter(|(_, value, usual)| value != usual);
    let others: Vec<String> = others
        .map(|(name, value, _)| format!("`{name}` is {value}"))
        .collect();
    if !others.is_empty() {
        write!(page, "\nBy default {}.\n", others.join(" and ")).unwrap();
    }
}

/// The value of a parameter in the recommended set, and the value in a file that leaves the key out, if different.
fn default_of(condition: &Condition, parameter: &Parameter) -> String {
    let value = |value: Option<f64>| match (value, parameter.range) {
        (None, _) => "off".to_owned(),
        (Some(value), Range::Switch) => (value != 0.0).to_string(),
        (Some(value), _) if value != 0.0 && value.abs() < 1e-4 => format!("{value:e}"),
        (Some(value), _) => value.to_string(),
    };
    let in_file = value(parameter.default);
    match parameter.recommended.filter(|_| condition.recommended) {
        Some(recommended) if Some(recommended) != parameter.default => {
            format!(
                "{}; {in_file} in a file that leaves it out",
                value(Some(recommended))
            )
        }
        _ => in_file,
    }
}

fn needs(condition: &Condition) -> String {
    let all = [
        (Need::Exponents, "exponents"),
        (Need::Hash, "hashes"),
        (Need::Change, "changes"),
        (Need::Channels, "statistics of each unit"),
        (Need::History, "several steps"),
    ];
    let some = all.iter().filter(|(need, _)| condition.needs(*need));
    let some: Vec<&str> = some.map(|(_, name)| *name).collect();
    some.join(", ")
}

/// Text with escaped Markdown.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if matches!(character, '*' | '<' | '>' | '[' | ']' | '`' | '\\' | '_') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// The same in a cell of a table.
fn cell(text: &str) -> String {
    escape(text).replace('|', "\\|")
}

fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

#[test]
fn the_chapter_about_sql_has_every_table_and_column() {
    let chapter = Document::read(workspace_root().join("docs/src/sql.md"));
    for table in trainscope_api::profile::TABLES {
        let columns = table
            .columns
            .iter()
            .map(|column| format!("`{}`", column.name));
        let columns: Vec<String> = columns.collect();
        let line = format!("| {} |", columns.join(", "));
        let begin = format!("| `{}` |", table.name);
        let mut lines = chapter.text.lines();
        let row = lines.find(|line| line.starts_with(&begin));
        assert!(
            row.is_some_and(|row| row.ends_with(&line)),
            "{row:?}: {line}"
        );
    }
}
