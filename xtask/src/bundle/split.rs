//! The program in parts: what every page needs, and the code of each page, which the browser fetches when it is opened.
//!
//! Split points are functions with `#[wasm_split]` (`web/src/pages/chunks.rs`). The splitter reads the relocations that
//! the linker leaves, and makes a part of what each set of pages has in common: some 250 of nine pages, most of them below
//! 3 kB. They are joined into few files, for a request each would cost more than their bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use wasm_bindgen_cli_support::Bindgen;
use wasm_encoder::{Module, RawSection};
use wasm_split_cli_support::{Options, transform};
use wasmparser::{Parser, Payload};

/// Name of the script that loads the parts; `#[wasm_split]` imports from it.
const LINK: &str = "__wasm_split.______________________.js";
/// The page that is opened first: parts that it has in common with others are in a file of their own.
const FIRST_PAGE: &str = "runs";

/// Writes the program into `out`, which is emptied before: the code that connects it to the browser's interfaces, files
/// of parts, and `packs.js`, which says where each part is and which files a page needs.
pub(super) fn program(program: &Path, out: &Path, is_named: bool) -> Result<()> {
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
    let mut pages_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let files_of: BTreeMap<String, Vec<String>> = split.prefetch_map.into_iter().collect();
    for (page, names) in files_of {
        for name in names {
            pages_of.entry(name).or_default().insert(page.clone());
        }
    }
    write_files(&pages_of, &parts, out, is_named)?;
    write_link(&parts, out)?;
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

/// The file for a part that these pages need.
fn file_of(pages: &BTreeSet<String>) -> String {
    let name = match pages.first() {
        Some(page) if pages.len() == 1 => page,
        _ if pages.contains(FIRST_PAGE) => "common",
        _ => "shared",
    };
    format!("page-{name}.bin")
}

/// Joins parts into files, and writes where each is.
fn write_files(
    pages_of: &BTreeMap<String, BTreeSet<String>>,
    parts: &Path,
    out: &Path,
    is_named: bool,
) -> Result<()> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut places = BTreeMap::new();
    let mut files_of: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, pages) in pages_of {
        let path = parts.join(name).with_extension("wasm");
        let part = fs::read(&path).with_context(|| path.display().to_string())?;
        let part = if is_named { part } else { plain(&part)? };
        let file = file_of(pages);
        let joined = files.entry(file.clone()).or_default();
        places.insert(name, json!([file, joined.len(), joined.len() + part.len()]));
        joined.extend(part);
        for page in pages {
            files_of.entry(page).or_default().insert(file.clone());
        }
    }
    for (file, bytes) in files {
        fs::write(out.join(file), bytes)?;
    }
    let (places, pages) = (json!(places), json!(files_of));
    let text = format!("export const places = {places};\nexport const pages = {pages};\n");
    fs::write(out.join("packs.js"), text)?;
    Ok(())
}

/// A module without what its readers do not need: names, and the linker's notes.
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

/// Has the splitter's script take parts from the joined files.
fn write_link(parts: &Path, out: &Path) -> Result<()> {
    let text = fs::read_to_string(parts.join(LINK))?;
    let begin = "fetch(new URL(\"./";
    let joined = text
        .replace(begin, "part(\"")
        .replace(".wasm\", import.meta.url))", "\")");
    ensure!(
        text.contains(begin) && !joined.contains("import.meta"),
        "the splitter writes another script than before: adapt `write_link`"
    );
    let text = format!("import {{ part }} from \"./parts.js\";\n{joined}");
    fs::write(out.join(LINK), text)?;
    Ok(())
}
