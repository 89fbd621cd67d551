//! The program in parts: the code that every page needs, and the code of each page, which the browser fetches when the
//! page is opened.
//!
//! Split points are functions with `#[wasm_split]` (`web/src/pages/chunks.rs`). The splitter reads the relocations that
//! the linker leaves, and makes a part of the code that each set of pages has in common: a thousand parts for sixteen
//! pages, most below 1 kB. They are joined into few files, because a request for each would cost more than its bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::json;
use wasm_bindgen_cli_support::Bindgen;
use wasm_encoder::{Module, RawSection};
use wasm_split_cli_support::{Options, transform};
use wasmparser::{Parser, Payload};

/// Name of the script that loads the parts; `#[wasm_split]` imports from it.
const LINK: &str = "__wasm_split.______________________.js";
/// The page that is opened first: parts that it has in common with others are in a separate file.
const FIRST_PAGE: &str = "runs";
/// Bytes of a part (before compression) that cost as much as one more request. With 30 kB a page needs at most eleven
/// files of its code; with 60 kB eight, which are 2 % larger.
const REQUEST_BYTES: usize = 30_000;

/// Pages that need a part.
type Pages = BTreeSet<String>;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(program), Some(out)) = (arguments.next(), arguments.next()) else {
        bail!("usage: xtask-bundler PROGRAM OUT [--named]");
    };
    let is_named = arguments.next().is_some_and(|flag| flag == "--named");
    split(&PathBuf::from(program), &PathBuf::from(out), is_named)
}

/// Writes the program into `out`, which is emptied before: the code that connects it to the browser's interfaces, files
/// of parts, and `packs.js`, which says where each part is and which files a page needs. Functions keep their names,
/// which profilers show, with `is_named`.
fn split(program: &Path, out: &Path, is_named: bool) -> Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    let parts = out.with_extension("split");
    if parts.exists() {
        fs::remove_dir_all(&parts)?;
    }
    fs::create_dir_all(out)?;
    fs::create_dir_all(&parts)?;
    let whole = fs::read(program).with_context(|| program.display().to_string())?;
    let main = parts.join("main.wasm");
    let link = format!("./{LINK}");
    let mut options = Options::new(&whole);
    options.output_dir = &parts;
    options.main_out_path = &main;
    options.main_module = "./trainscope_web.js";
    options.link_name = &link;
    let split = transform(options).map_err(|error| anyhow!("{error:?}"))?;
    let mut pages_of: BTreeMap<String, Pages> = BTreeMap::new();
    let files_of: BTreeMap<String, Vec<String>> = split.prefetch_map.into_iter().collect();
    for (page, names) in files_of {
        for name in names {
            pages_of.entry(name).or_default().insert(page.clone());
        }
    }
    write_files(&pages_of, &parts, out, is_named)?;
    Bindgen::new()
        .input_path(&main)
        .web(true)?
        .typescript(false)
        // The parts name exports of the first one.
        .keep_lld_exports(true)
        .demangle(false)
        .remove_name_section(!is_named)
        .remove_producers_section(true)
        .out_name("trainscope_web")
        .generate(out)?;
    Ok(())
}

/// The file for the parts of each set of pages, from the bytes of these parts: one for each page, one for all that
/// [`FIRST_PAGE`] has in common with others, and few for the rest, so that pages load little that they do not need.
fn file_names(bytes_of: &BTreeMap<&Pages, usize>) -> BTreeMap<Pages, String> {
    let every = all_pages(bytes_of);
    let bit = |page: &String| {
        every
            .iter()
            .position(|name| name == page)
            .map_or(0, |at| 1 << at)
    };
    let mut names = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (&pages, &len_bytes) in bytes_of {
        match pages.first() {
            Some(page) if pages.len() == 1 => {
                names.insert(pages.clone(), format!("page-{page}.bin"));
            }
            _ if pages.contains(FIRST_PAGE) => {
                names.insert(pages.clone(), "page-common.bin".to_owned());
            }
            _ => groups.push(Group {
                pages: pages.iter().fold(0, |all, page| all | bit(page)),
                len_bytes,
                sets: vec![pages.clone()],
            }),
        }
    }
    while let Some((first, second)) = best_pair(&groups) {
        let other = groups.swap_remove(second);
        groups[first].join(other);
    }
    for (number, group) in (1..).zip(groups) {
        let name = format!("page-shared-{number}.bin");
        names.extend(group.sets.into_iter().map(|set| (set, name.clone())));
    }
    names
}

/// Parts in one file.
struct Group {
    /// Pages that need at least one of the parts, a bit for each.
    pages: u32,
    len_bytes: usize,
    sets: Vec<Pages>,
}

impl Group {
    fn join(&mut self, other: Self) {
        self.pages |= other.pages;
        self.len_bytes += other.len_bytes;
        self.sets.extend(other.sets);
    }
}

/// Bytes that all of these pages together load for a file.
const fn cost(pages: u32, len_bytes: usize) -> usize {
    pages.count_ones() as usize * (len_bytes + REQUEST_BYTES)
}

/// The two groups, by ascending index, that save the most as one file; `None` if no two save anything.
fn best_pair(groups: &[Group]) -> Option<(usize, usize)> {
    let pairs = (0..groups.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let saved = |&(first, second): &(usize, usize)| {
        let (a, b) = (&groups[first], &groups[second]);
        let apart = cost(a.pages, a.len_bytes) + cost(b.pages, b.len_bytes);
        apart.saturating_sub(cost(a.pages | b.pages, a.len_bytes + b.len_bytes))
    };
    pairs.filter(|pair| saved(pair) > 0).max_by_key(saved)
}

/// Joins parts into files, and writes where each is.
fn write_files(
    pages_of: &BTreeMap<String, Pages>,
    parts: &Path,
    out: &Path,
    is_named: bool,
) -> Result<()> {
    let mut modules = Vec::new();
    let mut head: Option<Vec<u8>> = None;
    let mut bytes_of: BTreeMap<&Pages, usize> = BTreeMap::new();
    for (name, pages) in pages_of {
        let path = parts.join(name).with_extension("wasm");
        let part = fs::read(&path).with_context(|| path.display().to_string())?;
        let part = if is_named { part } else { plain(&part)? };
        let (types, rest) = part.split_at(head_len(&part)?);
        let head = head.get_or_insert_with(|| types.to_vec());
        ensure!(head == types, "{name} does not begin like the other parts");
        *bytes_of.entry(pages).or_default() += rest.len();
        modules.push((pages, rest.to_vec()));
    }
    let head = head.unwrap_or_default();
    let names = file_names(&bytes_of);
    let every: Vec<&str> = all_pages(&bytes_of);
    ensure!(every.len() < 32, "parts.js has a bit for each of 31 pages");
    let bits = |pages: &Pages| -> u32 {
        let of_page = every
            .iter()
            .enumerate()
            .map(|(at, page)| u32::from(pages.contains(*page)) << at);
        of_page.sum()
    };
    let mut files: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let mut parts_of: BTreeMap<&str, Vec<(usize, u32)>> = BTreeMap::new();
    let mut files_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (pages, part) in modules {
        let file = names[pages].as_str();
        parts_of
            .entry(file)
            .or_default()
            .push((part.len(), bits(pages)));
        files
            .entry(file)
            .or_insert_with(|| head.clone())
            .extend(part);
        for page in pages {
            files_of.entry(page).or_default().insert(file);
        }
    }
    for (file, bytes) in files {
        fs::write(out.join(file), bytes)?;
    }
    let (order, parts, pages) = (json!(every), json!(parts_of), json!(files_of));
    let text = format!(
        "// Written by the build. Pages by their bits; bytes of the beginning that all parts share, which each file begins\n\
         // with; bytes of the rest of each part in each file, with the bits of the pages that need it; files of each page.\n\
         export const order = {order};\nexport const head = {};\nexport const parts = {parts};\nexport const pages = {pages};\n",
        head.len()
    );
    fs::write(out.join("packs.js"), text)?;
    write_link(&every, out)
}

/// The names of all pages, in the order of their bits.
fn all_pages<'a>(bytes_of: &BTreeMap<&'a Pages, usize>) -> Vec<&'a str> {
    let names: BTreeSet<&str> = bytes_of
        .keys()
        .flat_map(|pages| pages.iter().map(String::as_str))
        .collect();
    names.into_iter().collect()
}

/// Bytes of the beginning of a module with its types. The splitter gives every part the types of the whole program,
/// which made up to two thirds of a file.
fn head_len(module: &[u8]) -> Result<usize> {
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::TypeSection(types) = payload? {
            return Ok(usize::try_from(types.range().end)?);
        }
    }
    bail!("a part has no types")
}

/// A module without unneeded sections: names, and the linker's notes.
fn plain(module: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::CustomSection(_) = payload {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            let data = &module[usize::try_from(range.start)?..usize::try_from(range.end)?];
            plain.section(&RawSection { id, data });
        }
    }
    Ok(plain.finish())
}

/// Writes the script from which `#[wasm_split]` imports the loaders of pages, in place of the splitter's, which names
/// each of a thousand parts twice.
fn write_link(pages: &[&str], out: &Path) -> Result<()> {
    let mut text = String::from(
        "// Written by the build: a loader for each page.\n\nimport { loader } from './parts.js';\n\n",
    );
    for page in pages {
        writeln!(
            text,
            "export const __wasm_split_load_{page} = loader('{page}');"
        )?;
    }
    fs::write(out.join(LINK), text)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_are_joined_and_large_ones_are_loaded_by_their_pages_alone() {
        let set = |pages: &[&str]| -> Pages { pages.iter().map(ToString::to_string).collect() };
        let parts = [
            (set(&["graph"]), 90_000),
            (set(&["graph", "runs"]), 3_000),
            (set(&["graph", "scalars"]), 3_000),
            (set(&["graph", "scalars", "tensors"]), 2_000),
            (set(&["histograms", "scalars"]), 300_000),
        ];
        let bytes_of = parts.iter().map(|(pages, bytes)| (pages, *bytes)).collect();
        let names = file_names(&bytes_of);
        let name = |pages: &[&str]| names[&set(pages)].as_str();
        assert_eq!(name(&["graph"]), "page-graph.bin");
        assert_eq!(name(&["graph", "runs"]), "page-common.bin");
        let small = name(&["graph", "scalars"]);
        assert_eq!(name(&["graph", "scalars", "tensors"]), small);
        let large = name(&["histograms", "scalars"]);
        assert!(large.starts_with("page-shared-") && large != small);
    }
}
