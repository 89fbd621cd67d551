//! Sizes of the bundle in the chapter on performance: written by `cargo xtask dist --sizes`, compared by each release.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

/// The document with the table, below the root of the workspace.
const DOCUMENT: &str = "docs/src/performance.md";
/// Lines before and after the table.
const MARKS: [&str; 2] = [
    "<!-- sizes of the bundle, written by the build -->\n",
    "<!-- end of the sizes -->\n",
];
/// Largest difference between the table and the bundle, as a share: compilers differ.
const TOLERANCE: f64 = 0.02;
/// Pages have these files in common, in addition to those that `packs.js` names.
const COMMON: [&str; 8] = [
    "index.html",
    "style.css",
    "boot.js",
    "packs.js",
    "parts.js",
    "trainscope_web.js",
    "trainscope_web_bg.wasm",
    "__wasm_split.______________________.js",
];

/// Number of files and of bytes after gzip that a browser loads.
type Size = (usize, usize);

/// Writes the table of a bundle into the document.
pub(super) fn write(root: &Path, bundle: &Path) -> Result<()> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path)?;
    let (before, _, after) = parts(&text)?;
    let table = table(&sizes(bundle)?);
    let [begin, end] = MARKS;
    fs::write(path, format!("{before}{begin}\n{table}\n{end}{after}"))?;
    Ok(())
}

/// Fails if the size of a page of the bundle differs from that in the document.
pub(super) fn check(root: &Path, bundle: &Path) -> Result<()> {
    let text = fs::read_to_string(root.join(DOCUMENT))?;
    compare(parts(&text)?.1, &sizes(bundle)?)
}

fn compare(written: &str, sizes: &BTreeMap<String, Size>) -> Result<()> {
    for (page, &(_, len_bytes)) in sizes {
        let start = format!("| {page} | ");
        let row = written.lines().find_map(|line| line.strip_prefix(&start));
        let kilobytes = row.and_then(|row| row.split('|').nth(1)?.trim().parse::<f64>().ok());
        let is_same = kilobytes.is_some_and(|said| {
            let measured = kilobytes_of(len_bytes);
            (said - measured).abs() <= (measured * TOLERANCE).max(1.0)
        });
        ensure!(
            is_same,
            "{DOCUMENT} does not have the size of {page}, {:.0} kB: `cargo xtask dist --sizes` writes it",
            kilobytes_of(len_bytes)
        );
    }
    Ok(())
}

/// The text before the table, the table, and the text after it, without the marks.
fn parts(text: &str) -> Result<(&str, &str, &str)> {
    let [begin, end] = MARKS;
    let found = text.split_once(begin).and_then(|(before, rest)| {
        let (table, after) = rest.split_once(end)?;
        Some((before, table, after))
    });
    found.with_context(|| format!("{DOCUMENT} has no `{}`", begin.trim_end()))
}

fn kilobytes_of(len_bytes: usize) -> f64 {
    len_bytes as f64 / 1000.0
}

fn table(sizes: &BTreeMap<String, Size>) -> String {
    let mut table =
        String::from("| what is loaded | files | kB after gzip |\n| --- | ---: | ---: |\n");
    for (page, (files, len_bytes)) in sizes {
        writeln!(
            table,
            "| {page} | {files} | {:.0} |",
            kilobytes_of(*len_bytes)
        )
        .ok();
    }
    table
}

/// Sizes of the files of every page, of each page with these, and of all pages.
fn sizes(bundle: &Path) -> Result<BTreeMap<String, Size>> {
    let packs = fs::read_to_string(bundle.join("packs.js"))?;
    let pages = packs
        .lines()
        .find_map(|line| {
            line.strip_prefix("export const pages = ")?
                .strip_suffix(';')
        })
        .context("packs.js names no pages")?;
    let pages: BTreeMap<String, BTreeSet<String>> = serde_json::from_str(pages)?;
    let mut len_bytes = BTreeMap::new();
    let every = pages.values().flatten().map(String::as_str).chain(COMMON);
    for file in every.collect::<BTreeSet<_>>() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let path = bundle.join(file);
        encoder.write_all(&fs::read(&path).with_context(|| path.display().to_string())?)?;
        len_bytes.insert(file, encoder.finish()?.len());
    }
    let sum = |files: &mut dyn Iterator<Item = &str>| -> Size {
        files.fold((0, 0), |(count, sum), file| {
            (count + 1, sum + len_bytes[file])
        })
    };
    if pages.is_empty() {
        bail!("packs.js names no pages");
    }
    let mut sizes = BTreeMap::from([
        ("(every page)".to_owned(), sum(&mut COMMON.into_iter())),
        (
            "(all pages)".to_owned(),
            sum(&mut len_bytes.keys().copied()),
        ),
    ]);
    for (page, files) in &pages {
        let mut files = COMMON.into_iter().chain(files.iter().map(String::as_str));
        sizes.insert(page.clone(), sum(&mut files));
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that gzip cannot make smaller (xorshift64).
    fn noise(len_bytes: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        std::iter::repeat_with(next).take(len_bytes).collect()
    }

    fn bundle() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in COMMON {
            fs::write(folder.path().join(file), "x").unwrap();
        }
        let bytes = noise(40_000);
        fs::write(folder.path().join("page-runs.bin"), bytes).unwrap();
        let packs =
            "export const order = [];\nexport const pages = {\"runs\":[\"page-runs.bin\"]};\n";
        fs::write(folder.path().join("packs.js"), packs).unwrap();
        folder
    }

    #[test]
    fn a_page_is_the_files_of_all_pages_and_its_parts() {
        let sizes = sizes(bundle().path()).unwrap();
        let (files, len_bytes) = sizes["runs"];
        assert_eq!(files, COMMON.len() + 1);
        assert_eq!(sizes["(all pages)"], sizes["runs"]);
        assert!(len_bytes > 30_000 + sizes["(every page)"].1, "{sizes:?}");
    }

    #[test]
    fn a_table_that_the_build_has_written_is_true_until_the_bundle_grows() {
        let bundle = bundle();
        let root = tempfile::tempdir().unwrap();
        let document = root.path().join(DOCUMENT);
        fs::create_dir_all(document.parent().unwrap()).unwrap();
        fs::write(
            &document,
            format!("before\n{}{}after\n", MARKS[0], MARKS[1]),
        )
        .unwrap();
        assert!(check(root.path(), bundle.path()).is_err());
        write(root.path(), bundle.path()).unwrap();
        check(root.path(), bundle.path()).unwrap();
        let text = fs::read_to_string(&document).unwrap();
        assert!(
            text.starts_with("before\n") && text.ends_with("after\n"),
            "{text}"
        );
        let grown = noise(60_000);
        fs::write(bundle.path().join("page-runs.bin"), grown).unwrap();
        let error = check(root.path(), bundle.path()).unwrap_err().to_string();
        assert!(error.contains("--sizes"), "{error}");
    }
}
