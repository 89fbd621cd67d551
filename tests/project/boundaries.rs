//! Architecture tests, from the manifests and sources: dependencies, allowed calls, and the length of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use spdx::{Expression, Licensee, ParseMode};
use trainscope_analysis::watchpoint::CONDITIONS;

use crate::support::lab::workspace_root;
use crate::support::modules::Modules;

/// Maximum number of lines of a source file.
pub(super) const MAX_LINES: usize = 600;

/// Licences allowed for dependencies, as SPDX identifiers.
const LICENCES: [&str; 17] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "OpenSSL",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Permitted dependencies of pages: none is another page.
const PAGES: [&str; 4] = [
    "trainscope-api",
    "trainscope-charts",
    "trainscope-format",
    "trainscope-web-kit",
];

/// The same for pages that compute results.
const JUDGING_PAGES: [&str; 5] = [
    "trainscope-analysis",
    "trainscope-api",
    "trainscope-charts",
    "trainscope-format",
    "trainscope-web-kit",
];

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(workspace_root().join("Cargo.toml"))
        .exec()
        .unwrap()
}

/// Dependencies of each package of the workspace, without those of tests and benches.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    metadata()
        .workspace_packages()
        .iter()
        .map(|package| {
            let names = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind == DependencyKind::Normal)
                .map(|dependency| dependency.name.clone())
                .collect();
            (package.name.to_string(), names)
        })
        .collect()
}

#[test]
fn packages_depend_on_each_other_as_the_architecture_says() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("trainscope-format", &[][..]),
        (
            "trainscope-analysis",
            &["trainscope-format", "trainscope-api"],
        ),
        // The analysis only with the feature `live`, which a test below holds.
        (
            "trainscope-collector",
            &["trainscope-format", "trainscope-analysis"],
        ),
        (
            "trainscope-python",
            &["trainscope-collector", "trainscope-format"],
        ),
        ("trainscope-api", &["trainscope-format"]),
        (
            "trainscope",
            &[
                "trainscope-format",
                "trainscope-analysis",
                "trainscope-api",
                "trainscope-charts",
                "trainscope-sql",
                "trainscope-stores",
            ],
        ),
        ("trainscope-charts", &["trainscope-format"]),
        ("trainscope-stores", &[]),
        (
            "trainscope-sql",
            &["trainscope-format", "trainscope-analysis", "trainscope-api"],
        ),
        (
            "trainscope-web-kit",
            &["trainscope-api", "trainscope-charts", "trainscope-format"],
        ),
        ("trainscope-pages-judged", &PAGES),
        ("trainscope-pages-profiles", &PAGES),
        ("trainscope-pages-records", &JUDGING_PAGES),
        ("trainscope-pages-runs", &JUDGING_PAGES),
        (
            "trainscope-web",
            &[
                "trainscope-api",
                "trainscope-format",
                "trainscope-pages-judged",
                "trainscope-pages-profiles",
                "trainscope-pages-records",
                "trainscope-pages-runs",
                "trainscope-web-kit",
            ],
        ),
        ("xtask", &[]),
        ("xtask-bench", &[]),
        ("xtask-bundler", &[]),
        ("xtask-dist", &[]),
    ]);
    for (package, dependencies) in dependencies() {
        let allowed = allowed
            .get(package.as_str())
            .unwrap_or_else(|| panic!("{package} is not in the table above"));
        for dependency in dependencies
            .iter()
            .filter(|name| name.starts_with("trainscope"))
        {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{package} must not depend on {dependency}"
            );
        }
    }
}

#[test]
fn the_collector_judges_and_connects_only_with_its_feature() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let collector = packages
        .iter()
        .find(|package| *package.name == "trainscope-collector")
        .unwrap();
    for name in ["trainscope-analysis", "tungstenite"] {
        let mut all = collector.dependencies.iter();
        let is_optional = all.any(|dependency| {
            dependency.name == name
                && dependency.kind == DependencyKind::Normal
                && dependency.optional
        });
        assert!(is_optional, "{name}");
    }
    assert!(collector.features["live"].contains(&"dep:trainscope-analysis".to_owned()));
    assert!(!collector.features.contains_key("default"));
}

#[test]
fn the_inner_packages_have_no_files_threads_or_network() {
    let forbidden = [
        "async-std",
        "axum",
        "hyper",
        "memmap2",
        "mio",
        "notify",
        "rayon",
        "reqwest",
        "rustix",
        "sled",
        "smol",
        "tokio",
        "ureq",
        "walkdir",
    ];
    let dependencies = dependencies();
    for package in ["trainscope-format", "trainscope-analysis", "trainscope-api"] {
        for dependency in &dependencies[package] {
            assert!(
                !forbidden.contains(&dependency.as_str()),
                "{package} depends on {dependency}"
            );
        }
    }
    for folder in [
        "summary-format/src",
        "server/analysis/src",
        "server/api/src",
    ] {
        for path in rust_files(&workspace_root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            for word in [
                "std::fs",
                "std::net::Tcp",
                "std::net::Udp",
                "std::process",
                "std::thread",
                "std::env",
                "async fn",
            ] {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

#[test]
fn charts_know_neither_browser_nor_framework() {
    for dependency in &dependencies()["trainscope-charts"] {
        for word in ["leptos", "web-sys", "wasm-bindgen", "js-sys"] {
            assert!(
                !dependency.starts_with(word),
                "trainscope-charts depends on {dependency}"
            );
        }
    }
}

#[test]
fn modules_do_not_go_round_in_circles() {
    for folder in [
        "summary-format/src",
        "collector/src",
        "collector/python/src",
        "server/analysis/src",
        "server/api/src",
        "server/charts/src",
        "server/sql/src",
        "server/src",
        "web/kit/src",
        "web/pages/judged/src",
        "web/pages/profiles/src",
        "web/pages/records/src",
        "web/pages/runs/src",
        "web/src",
        "xtask/bench/src",
        "xtask/src",
    ] {
        let src = workspace_root().join(folder);
        if let Some(circle) = Modules::read(&src, &rust_files(&src)).circle() {
            panic!("{folder} has a circle of modules:\n{}", circle.join("\n"));
        }
    }
}

#[test]
fn ids_of_conditions_are_written_in_the_catalogue_alone() {
    let root = workspace_root();
    let ids: BTreeSet<String> = CONDITIONS
        .iter()
        .map(|condition| format!("\"{}\"", condition.id))
        .collect();
    for folder in ["server/analysis/src", "server/api/src", "server/src", "web"] {
        for path in rust_files(&root.join(folder)) {
            let inside = path.strip_prefix(&root).unwrap().to_str().unwrap();
            // Rules of the guided diagnosis, and those about profiles, have the names of their conditions; some kinds
            // of facts have the name of the condition that they decide.
            let reads_facts = inside.starts_with("server/analysis/src/diagnosis/program/")
                || inside.starts_with("server/src/queries/program/");
            let names_them = reads_facts
                || inside.starts_with("server/analysis/src/watchpoint/catalogue/")
                || inside == "server/analysis/src/diagnosis/rule.rs"
                || inside == "server/analysis/src/trace/advice/rule.rs";
            if names_them || path.iter().any(|part| part == "tests") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap().lines();
            let mut code = code.filter(|line| !line.trim_start().starts_with("//"));
            let id = code.find_map(|line| ids.iter().find(|id| line.contains(&***id)));
            assert_eq!(id, None, "{inside} names a condition by its id");
        }
    }
}

/// Numbers of rules without a name: nothing, one, two for pairs and majorities, and percent.
const PLAIN_NUMBERS: [&str; 7] = ["0", "1", "2", "100", "0.0", "1.0", "100.0"];

/// The code of a source file without its tests, comments and texts.
fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap();
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    let mut code = String::new();
    let mut is_text = false;
    for part in lines.collect::<Vec<_>>().join("\n").split('"') {
        code.push_str(if is_text { "" } else { part });
        is_text = !is_text;
    }
    code
}

#[test]
fn numbers_in_rules_have_a_name_and_a_comment() {
    let checks = workspace_root().join("server/analysis/src/watchpoint/checks");
    for path in rust_files(&checks) {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_explained = false;
        for line in text.split("#[cfg(test)]").next().unwrap().lines() {
            let is_constant = line.contains("const ") && line.contains(" = ");
            let has_number = line.ends_with(';') && line.contains(|c: char| c.is_ascii_digit());
            assert!(
                is_explained || !is_constant || !has_number,
                "{}: {line} has no comment",
                path.display()
            );
            // Constants that follow each other share a comment.
            is_explained = line.starts_with("///") || is_constant && is_explained;
        }
        for line in code_of(&text)
            .lines()
            .filter(|line| !line.contains("const "))
        {
            // Lengths of arrays belong to their types.
            let line = line.replace("..", " ").replace("; ", "; n");
            let words = line.split(|c: char| !(c.is_alphanumeric() || "_.".contains(c)));
            let numbers = words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            let unnamed: Vec<&str> = numbers.filter(|n| !PLAIN_NUMBERS.contains(n)).collect();
            assert_eq!(unnamed, [""; 0], "{}: {line}", path.display());
        }
    }
}

#[test]
fn pages_do_not_use_each_other() {
    let crates = workspace_root().join("web/pages");
    for path in rust_files(&crates) {
        let inside = path.strip_prefix(&crates).unwrap().with_extension("");
        let mut names = inside.iter().skip(2);
        let page = names.next().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        // Other files at the root are shared by the pages of the crate.
        let root = crates
            .join(inside.iter().next().unwrap())
            .join("src/lib.rs");
        let root = fs::read_to_string(root).unwrap();
        let is_page = |name: &str| root.contains(&format!("pub use {name}::"));
        for (at, _) in text.match_indices("crate::") {
            let other = &text[at + "crate::".len()..];
            let name = other.split("::").next().unwrap();
            assert!(
                page == "lib" || name == page || !is_page(name),
                "{} uses another page: move the shared part to a file beside them",
                path.display()
            );
        }
    }
}

/// Maximum number of lines of a crate of the page: a larger one would take too long to compile after a change.
const MAX_LINES_OF_A_PAGE_CRATE: usize = 20_000;

#[test]
fn no_crate_of_the_page_is_too_large() {
    let web = workspace_root().join("web");
    for folder in [
        "kit",
        "pages/judged",
        "pages/profiles",
        "pages/records",
        "pages/runs",
        "src",
    ] {
        let files = rust_files(&web.join(folder));
        let lines: usize = files
            .iter()
            .map(|path| fs::read_to_string(path).unwrap().lines().count())
            .sum();
        assert!(
            lines <= MAX_LINES_OF_A_PAGE_CRATE,
            "web/{folder} has {lines} lines"
        );
    }
}

#[test]
fn only_the_index_names_its_store() {
    let server = workspace_root().join("server/src");
    for path in rust_files(&server) {
        let inside = path.strip_prefix(&server).unwrap();
        if inside.starts_with("index") || inside == Path::new("index.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("sled::"), "{} names sled", inside.display());
    }
}

#[test]
fn files_of_others_are_opened_in_one_place() {
    // Files of the program itself, and files that a user names, which may be pipes.
    let exceptions = [
        "files.rs",
        "discovery/walk.rs",
        "colours.rs",
        "cli/state.rs",
        "cli/start/background.rs",
        "cli/check/baseline.rs",
        "cli/check/outcome.rs",
        "cli/check/watchpoint_file.rs",
        "http/access.rs",
        "http/assets.rs",
        "profiles/cache.rs",
        "settings/shared_machine.rs",
    ];
    let server = workspace_root().join("server/src");
    for path in rust_files(&server) {
        let inside = path.strip_prefix(&server).unwrap();
        let is_test = inside
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        if is_test
            || exceptions
                .iter()
                .any(|exception| inside == Path::new(exception))
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for word in [
            " File::open(",
            "(File::open(",
            "::File::open(",
            "fs::read(",
            "fs::read_to_string(",
            "fs::read_dir(",
        ] {
            assert!(!code.contains(word), "{} uses {word}", inside.display());
        }
    }
}

#[test]
fn event_files_are_decoded_in_one_place_and_the_judgement_opens_nothing() {
    let server = workspace_root().join("server/src");
    for path in rust_files(&server) {
        let inside = path.strip_prefix(&server).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        if inside.ends_with("tests.rs") {
            continue;
        }
        let is_reader = inside.starts_with("reader");
        let calls = ["dyn Decoder", ".resume(&", ".decoder(&"];
        for word in calls.iter().filter(|_| !is_reader) {
            assert!(!code.contains(word), "{} uses {word}", inside.display());
        }
        let calls = [
            "fs::",
            "crate::files",
            " files::",
            "(files::",
            " File::",
            "OpenFile",
            "OpenOptions",
            "BufReader",
            "metadata(",
            ".exists()",
            ".is_file()",
            ".is_dir()",
            "canonicalize(",
        ];
        for word in calls.iter().filter(|_| inside.starts_with("judging")) {
            assert!(!code.contains(word), "{} uses {word}", inside.display());
        }
    }
}

#[test]
fn folders_are_walked_for_the_index_and_the_judgement_at_once() {
    let server = workspace_root().join("server/src");
    for path in rust_files(&server) {
        let inside = path.strip_prefix(&server).unwrap();
        let walkers = ["discovery", "ingest.rs", "cli/check.rs"];
        if walkers.iter().any(|walker| inside.starts_with(walker)) || inside.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in ["find::find(", "find_new(", " scan(&", "walk::walk("] {
            assert!(!text.contains(word), "{} uses {word}", inside.display());
        }
    }
}

#[test]
fn no_source_file_is_too_long() {
    let root = workspace_root();
    for folder in [
        "summary-format",
        "collector",
        "server",
        "web",
        "xtask",
        "tests",
    ] {
        for path in rust_files(&root.join(folder)) {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= MAX_LINES, "{} has {lines} lines", path.display());
        }
    }
}

#[test]
fn every_source_file_opens_with_its_job() {
    let root = workspace_root();
    for folder in [
        "summary-format",
        "collector",
        "server",
        "web",
        "xtask",
        "tests",
    ] {
        for path in rust_files(&root.join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                text.starts_with("//! "),
                "{} does not say what it is for",
                path.display()
            );
        }
    }
}

#[test]
fn every_dependency_has_a_licence_that_allows_its_use() {
    for package in metadata().packages {
        let Some(licence) = &package.license else {
            // A licence file instead of a name: none so far, so each new one needs a review.
            panic!("{} {} names no licence", package.name, package.version);
        };
        assert!(
            is_allowed(licence),
            "{} {}: {licence}",
            package.name,
            package.version
        );
    }
}

/// True if an SPDX expression, or the older form with `/`, can be met with allowed licences.
fn is_allowed(expression: &str) -> bool {
    let allowed = LICENCES.map(|licence| Licensee::parse(licence).unwrap());
    let expression = Expression::parse_mode(expression, ParseMode::LAX).unwrap();
    expression.evaluate(|needed| allowed.iter().any(|licensee| licensee.satisfies(needed)))
}

#[test]
fn licence_expressions_are_read() {
    assert!(is_allowed("MIT OR GPL-3.0"));
    assert!(is_allowed("GPL-3.0/Apache-2.0"));
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(!is_allowed("(MIT OR Apache-2.0) AND GPL-3.0"));
    assert!(!is_allowed("LGPL-2.1"));
}

/// All `.rs` files below a folder, without build output.
pub(super) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}
