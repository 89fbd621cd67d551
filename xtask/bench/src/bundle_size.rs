//! Download size of the first visit.

use std::fs;
use std::path::Path;

use anyhow::Result;
use ureq::http::header::ACCEPT_ENCODING;

use super::Bench;
use super::server::Cache;

/// Total size of the files of the page, as sent to a client that accepts gzip.
pub(super) fn gzip_bytes(bench: &Bench, dist: &Path, runs: &Path) -> Result<usize> {
    let server = Cache::empty(&bench.scratch)?.start(&bench.program, runs)?;
    let mut sum = 0;
    for entry in fs::read_dir(dist)? {
        let name = entry?.file_name();
        let address = format!("{}/{}", server.address(), name.display());
        let mut answer = ureq::get(address).header(ACCEPT_ENCODING, "gzip").call()?;
        sum += answer
            .body_mut()
            .with_config()
            .limit(1 << 26)
            .read_to_vec()?
            .len();
    }
    server.stop()?;
    Ok(sum)
}
