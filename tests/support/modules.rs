//! The graph of the modules of a crate, from `use` declarations and paths in its sources, and the circles in it.
//!
//! Test modules and comments do not count. Names that a module imports are followed to the module that defines them, so
//! that a re-export hides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A module, or an item in it: the names from the root of the crate.
type Names = Vec<String>;

/// The modules of a crate.
pub(crate) struct Modules(BTreeMap<Names, Module>);

#[derive(Default)]
struct Module {
    /// Paths as they are written.
    paths: Vec<Names>,
    /// Imported names, with their full names.
    imports: BTreeMap<String, Names>,
}

impl Modules {
    /// Reads the sources below the folder `src` of a crate.
    pub(crate) fn read(src: &Path, files: &[impl AsRef<Path>]) -> Self {
        let mut modules = BTreeMap::new();
        for file in files {
            let inside = file.as_ref().strip_prefix(src).unwrap().with_extension("");
            let mut names: Names = inside
                .iter()
                .map(|name| name.to_str().unwrap().to_owned())
                .collect();
            if names == ["main"] || names.iter().any(|name| name == "tests") {
                continue;
            }
            if names == ["lib"] {
                names.clear();
            }
            let text = fs::read_to_string(file).unwrap();
            let mut module = Module::default();
            module.scan(text.parse().unwrap());
            modules.insert(names, module);
        }
        Self(modules)
    }

    /// A circle among modules of one parent, each with all modules below it: a line for each of its steps.
    pub(crate) fn circle(&self) -> Option<Vec<String>> {
        let edges = self.edges();
        let parents: BTreeSet<&[String]> = self
            .0
            .keys()
            .filter_map(|names| Some(names.split_last()?.1))
            .collect();
        parents.into_iter().find_map(|parent| {
            let child = |names: &Names| {
                let below = names.strip_prefix(parent)?;
                below.first().cloned()
            };
            let mut graph: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
            for (from, to, path) in &edges {
                let (Some(a), Some(b)) = (child(from), child(to)) else {
                    continue;
                };
                if a != b {
                    let step = format!("{a} -> {b}: {} uses {}", from.join("::"), path.join("::"));
                    graph.entry(a).or_default().entry(b).or_insert(step);
                }
            }
            circle_in(&graph)
        })
    }

    /// Pairs of modules of which the first uses the second, and the path by which it does.
    fn edges(&self) -> Vec<(&Names, Names, &Names)> {
        let mut edges = Vec::new();
        for (names, module) in &self.0 {
            for path in &module.paths {
                let target = self.resolve(names, path, 0);
                edges.extend(target.map(|target| (names, target, path)));
            }
        }
        edges
    }

    /// The module that defines the target of a path in a module; `None` outside of the crate.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Names> {
        let first = path.first().filter(|_| depth < 10)?;
        match &**first {
            "crate" => self.walk(&[], &path[1..], depth),
            "self" => self.walk(from, &path[1..], depth),
            "super" => {
                let up = path.iter().take_while(|name| *name == "super").count();
                self.walk(&from[..from.len().checked_sub(up)?], &path[up..], depth)
            }
            _ if self.0.contains_key(&[from, &path[..1]].concat()) => self.walk(from, path, depth),
            _ => {
                let target = self.0.get(from)?.imports.get(first)?;
                let is_own = target.first() == Some(first);
                let whole = [target, &path[1..]].concat();
                (!is_own).then(|| self.resolve(from, &whole, depth + 1))?
            }
        }
    }

    fn walk(&self, from: &[String], path: &[String], depth: usize) -> Option<Names> {
        let Some((first, rest)) = path.split_first() else {
            return Some(from.to_vec());
        };
        let inner = [from, &path[..1]].concat();
        if self.0.contains_key(&inner) {
            return self.walk(&inner, rest, depth);
        }
        let import = self
            .0
            .get(from)
            .and_then(|module| module.imports.get(first));
        let target = import.and_then(|import| {
            let whole = [&import[..], rest].concat();
            self.resolve(from, &whole, depth + 1)
        });
        Some(target.unwrap_or_else(|| from.to_vec()))
    }
}

impl Module {
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let next = tokens.get(at + 1);
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let is_test =
                        next.is_some_and(|next| next.to_string().replace(' ', "") == "[cfg(test)]");
                    let end = is_test.then(|| end_of_module(&tokens, at + 2)).flatten();
                    at = end.unwrap_or(at + 1);
                }
                TokenTree::Ident(word) if word == "use" && is_name(next) => {
                    let end = tokens[at..].iter().position(|token| is_punct(token, ';'));
                    let end = at + end.unwrap();
                    self.import(&[], &tokens[at + 1..end]);
                    at = end;
                }
                TokenTree::Ident(word)
                    if ["crate", "super", "self"]
                        .iter()
                        .any(|keyword| word == keyword) =>
                {
                    let path = path_at(&tokens, at);
                    if path.len() > 1 {
                        self.paths.push(path);
                    }
                    at += 1;
                    // `super::super::x` is one path.
                    while tokens.get(at).is_some_and(|token| is_punct(token, ':')) {
                        at += 3;
                    }
                }
                TokenTree::Group(group) => {
                    self.scan(group.stream());
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Takes the tree of a `use` declaration.
    fn import(&mut self, before: &[String], tree: &[TokenTree]) {
        for part in tree.split(|token| is_punct(token, ',')) {
            let mut path = before.to_vec();
            let mut name = None;
            let mut tokens = part.iter();
            while let Some(token) = tokens.next() {
                match token {
                    TokenTree::Ident(word) if word == "as" => {
                        name = tokens.next().map(ToString::to_string);
                    }
                    TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                        self.import(&path, &inner);
                        path.clear();
                    }
                    _ => {}
                }
            }
            if let Some(last) = path.last().cloned() {
                self.paths.push(path.clone());
                self.imports.insert(name.unwrap_or(last), path);
            }
        }
    }
}

/// The names of a path that begins at a token.
fn path_at(tokens: &[TokenTree], mut at: usize) -> Names {
    let mut path = Names::new();
    while let Some(TokenTree::Ident(name)) = tokens.get(at) {
        path.push(name.to_string());
        let colons = tokens.get(at + 1..at + 3).unwrap_or_default();
        if colons.len() < 2 || !colons.iter().all(|token| is_punct(token, ':')) {
            break;
        }
        at += 3;
    }
    path
}

/// The token after a module that begins here, after an attribute.
fn end_of_module(tokens: &[TokenTree], from: usize) -> Option<usize> {
    let is_mod = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "mod");
    let at = from + tokens.get(from..)?.iter().take(3).position(is_mod)?;
    // Its name, then its content or a semicolon.
    Some(at + 3)
}

fn is_name(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Ident(_) | TokenTree::Group(_)))
}

fn is_punct(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The steps of a circle.
fn circle_in(graph: &BTreeMap<String, BTreeMap<String, String>>) -> Option<Vec<String>> {
    fn visit<'a>(
        node: &'a str,
        graph: &'a BTreeMap<String, BTreeMap<String, String>>,
        way: &mut Vec<(&'a str, &'a str)>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        for (next, step) in graph.get(node).into_iter().flatten() {
            way.push((node, step));
            if let Some(begin) = way.iter().position(|(on_way, _)| on_way == next) {
                return Some(
                    way[begin..]
                        .iter()
                        .map(|(_, step)| (*step).to_owned())
                        .collect(),
                );
            }
            if !done.contains(&**next)
                && let Some(circle) = visit(next, graph, way, done)
            {
                return Some(circle);
            }
            way.pop();
        }
        done.insert(node);
        None
    }
    let mut done = BTreeSet::new();
    graph
        .keys()
        .find_map(|node| visit(node, graph, &mut Vec::new(), &mut done))
}

/// Modules of texts, as if they were files.
fn modules(texts: &[(&str, &str)]) -> Modules {
    let module = |text: &str| {
        let mut module = Module::default();
        module.scan(text.parse().unwrap());
        module
    };
    let named = texts.iter().map(|(name, text)| {
        let names = name.split("::").filter(|name| !name.is_empty());
        (names.map(str::to_owned).collect(), module(text))
    });
    Modules(named.collect())
}

#[test]
fn circles_are_found_through_re_exports_macros_and_children() {
    let straight = [
        ("", "pub use b::T; mod a; mod b;"),
        ("a", "//! crate::c::X\nuse crate::b::{self, T as U};"),
        (
            "b",
            "#[cfg(test)]\nmod tests { use crate::a::V; }\nuse std::fmt;",
        ),
        ("b::c", "use super::T; const X: &str = \"crate::a\";"),
    ];
    assert_eq!(modules(&straight).circle(), None);
    for back in [
        "use crate::a::V;",
        "fn f() { vec![super::a::V]; }",
        "use crate::reexport::{V};",
        "use crate as root; use root::a;",
    ] {
        let mut circle = straight;
        circle[2].1 = back;
        let with = [&circle[..], &[("reexport", "pub use crate::a::V;")][..]].concat();
        let found = modules(&with).circle().unwrap();
        assert!(
            found.iter().any(|step| step.starts_with("b -> ")),
            "{back}: {found:?}"
        );
    }
}
