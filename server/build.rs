//! Embeds the page into the program: the files of `web/dist` if they were built, else a page with build instructions.
//!
//! Each file is compressed here, once, instead of for every client. This script never runs cargo.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Folder of the bundle.
const DIST: &str = "../web/dist";
/// Page served without a bundle.
const MISSING: &str = "src/http/missing.html";

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = Path::new(DIST);
    let mut files = Vec::new();
    println!("cargo::rerun-if-changed=build.rs");
    if dist.join("index.html").is_file() {
        // A folder counts with all its files.
        println!("cargo::rerun-if-changed={DIST}");
        collect(dist, dist, &mut files)?;
        files.sort();
    } else {
        // A path that does not exist runs this script on every build. The parent of `web/dist` changes when that appears.
        println!("cargo::rerun-if-changed=../web");
        println!("cargo::rerun-if-changed={MISSING}");
        files.push(("index.html".to_owned(), PathBuf::from(MISSING)));
    }

    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let mut table = String::from("&[\n");
    for (number, (name, path)) in files.iter().enumerate() {
        let plain = fs::read(path)?;
        let packed = gzip(&plain, release)?;
        // The start page is completed by the server; files that do not get smaller, such as images, stay as they are.
        let is_gzip = name != "index.html" && packed.len() < plain.len();
        let place = if is_gzip {
            let place = out.join(format!("asset-{number}.gz"));
            fs::write(&place, packed)?;
            place
        } else {
            fs::canonicalize(path)?
        };
        let place = place.display().to_string();
        writeln!(
            table,
            "EmbeddedFile {{ name: {name:?}, tag: \"{:016x}\", content: Content {{ bytes: include_bytes!({place:?}), is_gzip: {is_gzip} }} }},",
            hash(&plain),
        )
        .map_err(io::Error::other)?;
    }
    table.push(']');
    fs::write(out.join("assets.rs"), table)
}

/// A number that changes with the bytes.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// All files below `dir`, keyed by their path below `root` with `/` between parts.
fn collect(root: &Path, dir: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
            continue;
        }
        let name: Vec<String> = path
            .strip_prefix(root)
            .map_err(io::Error::other)?
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        files.push((name.join("/"), path));
    }
    Ok(())
}

/// In release builds at the highest level, which takes seconds.
fn gzip(plain: &[u8], release: bool) -> io::Result<Vec<u8>> {
    if release {
        let mut packed = Vec::new();
        let options = zopfli::Options {
            iteration_count: NonZeroU64::MIN,
            ..Default::default()
        };
        zopfli::compress(options, zopfli::Format::Gzip, plain, &mut packed)?;
        return Ok(packed);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain)?;
    encoder.finish()
}
