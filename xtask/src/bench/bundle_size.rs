//! What a browser fetches the first time.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes of all files of the finished bundle, each after gzip.
pub(super) fn gzip_bytes(dist: &Path) -> Result<usize> {
    let mut sum = 0;
    for entry in fs::read_dir(dist)? {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&fs::read(entry?.path())?)?;
        sum += packed.finish()?.len();
    }
    Ok(sum)
}
