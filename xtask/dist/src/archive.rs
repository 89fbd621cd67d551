//! Archives that are equal for equal files: no times, no users, one order.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tar::{Builder, Header};

/// Permissions of programs, and of other files.
const PROGRAM: u32 = 0o755;
const FILE: u32 = 0o644;

/// A `.tar.gz` that is being written.
pub(crate) struct Archive {
    builder: Builder<GzEncoder<File>>,
    /// The folder that all files are in.
    folder: String,
}

impl Archive {
    pub(crate) fn create(path: &Path, folder: &str) -> Result<Self> {
        let file = File::create(path).with_context(|| path.display().to_string())?;
        Ok(Self {
            builder: Builder::new(GzEncoder::new(file, Compression::best())),
            folder: folder.to_owned(),
        })
    }

    pub(crate) fn program(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.add(name, bytes, PROGRAM)
    }

    pub(crate) fn file(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.add(name, bytes, FILE)
    }

    /// A file with its content on disk, and executable if it is there.
    pub(crate) fn file_of_disk(&mut self, name: &str, path: &Path) -> Result<()> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let mode = if is_program(path)? { PROGRAM } else { FILE };
        self.add(name, &bytes, mode)
    }

    fn add(&mut self, name: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(mode);
        let path = Path::new(&self.folder).join(name);
        self.builder.append_data(&mut header, path, bytes)?;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.builder.into_inner()?.finish()?.sync_all()?;
        Ok(())
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_program(_: &Path) -> Result<bool> {
    Ok(false)
}

/// Writes `SHA256SUMS` about all files of a folder.
pub(crate) fn write_checksums(folder: &Path) -> Result<()> {
    let mut lines = Vec::new();
    for path in files_of(folder)? {
        for byte in Sha256::digest(fs::read(&path)?) {
            write!(lines, "{byte:02x}")?;
        }
        let name = path.file_name().unwrap_or_default().display();
        writeln!(lines, "  {name}")?;
    }
    fs::write(folder.join("SHA256SUMS"), lines)?;
    Ok(())
}

/// The files directly in a folder, by name.
pub(crate) fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// All files below a folder, by path.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files_of(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_give_equal_archives_and_the_checksums_are_those_of_sha256sum() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for name in ["first.tar.gz", "second.tar.gz"] {
            let mut archive = Archive::create(&folder.path().join(name), "made")?;
            archive.program("run", b"echo")?;
            archive.file("LICENSE", b"free")?;
            archive.finish()?;
        }
        let read = |name: &str| fs::read(folder.path().join(name));
        assert_eq!(read("first.tar.gz")?, read("second.tar.gz")?);
        for name in ["first.tar.gz", "second.tar.gz"] {
            fs::remove_file(folder.path().join(name))?;
        }
        fs::write(folder.path().join("abc"), "abc")?;
        write_checksums(folder.path())?;
        let sums = fs::read_to_string(folder.path().join("SHA256SUMS"))?;
        assert_eq!(
            sums,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n"
        );
        Ok(())
    }
}
