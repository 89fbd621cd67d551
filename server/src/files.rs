//! Files that other programs write, opened without ever waiting.
//!
//! Everything recorded is opened here. A named pipe would block its reader until a writer comes, and a device may have
//! no end, so only regular files are read. The type is checked on the open descriptor: a file cannot be replaced
//! between check and open.
//!
//! Paths such as `s3://bucket/runs/a` are addresses of objects, which are read in the same way.

mod file;
mod stored;

use std::fs::{FileType, OpenOptions};
use std::io::{self, BufRead as _, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use trainscope_format::formats::trace_json::{is_trace_json, is_undecided};

pub(crate) use file::{File, Metadata};
#[cfg(feature = "stores")]
pub(crate) use stored::list;
pub(crate) use stored::{
    is_address, look_again, note_request, problem, set_store_interval, store_requests, threads,
};

/// Number of bytes at the front of a file, unpacked, for format detection.
const HEAD_BYTES: u64 = 4096;
/// The same for a JSON object whose first keys do not identify it.
const LONG_HEAD_BYTES: u64 = 256 << 10;

/// Opens a regular file for reading. Pipes, sockets, devices and folders are errors.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    #[cfg(feature = "stores")]
    if let Some(address) = stored::address(path) {
        return stored::open(&address);
    }
    let file = OpenOptions::new()
        .read(true)
        // A pipe without a writer opens at once; regular files are not affected.
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    match special(file.metadata()?.file_type()) {
        None => Ok(File::Local(file)),
        Some(what) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("it is {what}; only regular files are read"),
        )),
    }
}

/// Facts about a file or folder; of the target for a link.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    #[cfg(feature = "stores")]
    if let Some(address) = stored::address(path) {
        return stored::metadata(&address);
    }
    Ok(Metadata::local(&std::fs::metadata(path)?))
}

/// The real path of a file or folder; of an address its plain form, whether something is there or not.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    if is_address(path) {
        return stored::canonical(path);
    }
    path.canonicalize()
}

/// True if there is a regular file, or an object.
pub(crate) fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Facts about a file, or an object that is listed: in contrast to [`metadata`] without any request, for files that most
/// recordings do not have.
pub(crate) fn listed(path: &Path) -> Option<Metadata> {
    #[cfg(feature = "stores")]
    if let Some(address) = stored::address(path) {
        return stored::listed(&address);
    }
    metadata(path).ok()
}

/// True if there is a regular file, or an object that is listed.
pub(crate) fn is_listed(path: &Path) -> bool {
    listed(path).is_some_and(|metadata| metadata.is_file())
}

/// True for the error of an object that another program has written since it was read.
pub(crate) fn is_conflict(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::StaleNetworkFileHandle
}

/// Replaces a small file by renaming a finished copy: a reader gets the old content or the new one, never a part of it.
/// An object is replaced only in the version that was read.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    #[cfg(feature = "stores")]
    if let Some(address) = stored::address(path) {
        let written = stored::write(&address, text.as_bytes().to_vec());
        if written.as_ref().is_err_and(is_conflict) {
            look_again(path);
        }
        return written;
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Writes an object of this length over any earlier one.
pub(crate) fn upload(address: &Path, content: &mut dyn io::Read, len_bytes: u64) -> io::Result<()> {
    // An address that is wrong, or a program without stores, gets the error of the check.
    stored::canonical(address)?;
    #[cfg(feature = "stores")]
    if let Some(address) = stored::address(address) {
        return stored::upload(&address, content, len_bytes);
    }
    let _ = (content, len_bytes);
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a file, if it exists.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    #[cfg(feature = "stores")]
    if let Some(address) = stored::address(path) {
        return stored::remove(&address);
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// True if there is a folder, or something below an address.
pub(crate) fn is_folder(path: &Path) -> bool {
    metadata(path).is_ok_and(|metadata| metadata.is_folder())
}

/// Reads a whole file, up to a maximum number of bytes; a larger file is an error.
pub(crate) fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large(max_bytes));
    }
    Ok(bytes)
}

/// Error of a file with more than a maximum number of bytes.
pub(crate) fn too_large(max_bytes: u64) -> io::Error {
    let reason = format!("it has more than {max_bytes} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

/// Reads a whole text, up to a maximum number of bytes; a larger file is an error.
pub(crate) fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    String::from_utf8(read(path, max_bytes)?).map_err(invalid)
}

/// Reads a file below a folder, if its real path is in the folder, too: a link out of it could expose any file of this
/// machine.
pub(crate) fn read_inside(folder: &Path, path: &str, max_bytes: u64) -> io::Result<Vec<u8>> {
    let place = folder.join(path);
    if is_address(folder) {
        // Objects are no links.
        return read(&place, max_bytes);
    }
    // Most runs lack most of the files, and resolving real paths costs many system calls.
    place.symlink_metadata()?;
    let (folder, place) = (folder.canonicalize()?, place.canonicalize()?);
    if !place.starts_with(&folder) {
        let reason = "it is a link out of the folder of the run";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    read(&place, max_bytes)
}

/// `true` for the error of a file that does not exist.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// First bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The first bytes of a file, unpacked, for format detection; empty for an unreadable file.
pub(crate) fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = open(path).and_then(unpacked).and_then(|mut file| {
        file.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes)?;
        if !is_trace_json(&bytes) && is_undecided(&bytes) {
            file.take(LONG_HEAD_BYTES).read_to_end(&mut bytes)?;
        }
        Ok(())
    });
    // The beginning of an incomplete gzip file is enough.
    drop(read);
    bytes
}

/// The last bytes of a file as they are, up to a maximum number; empty for an unreadable file.
pub(crate) fn tail(path: &Path, max_bytes: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = open(path).and_then(|mut file| {
        let len = file.metadata()?.len_bytes;
        file.seek(io::SeekFrom::Start(len.saturating_sub(max_bytes)))?;
        file.take(max_bytes).read_to_end(&mut bytes)
    });
    drop(read);
    bytes
}

/// `true` for a gzip file. The position of the file is its start afterwards.
pub(crate) fn is_packed(file: &mut File) -> io::Result<bool> {
    file.rewind()?;
    Ok(file.first(GZIP_MAGIC.len())? == GZIP_MAGIC)
}

/// Reads the content of a file, unpacked if it is gzip; members that follow each other are one text.
pub(crate) fn unpacked<'a>(file: impl io::Read + 'a) -> io::Result<Box<dyn io::Read + 'a>> {
    let mut file = io::BufReader::with_capacity(1 << 20, file);
    let is_gzip = file.fill_buf()?.starts_with(&GZIP_MAGIC);
    Ok(if is_gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
}

/// A buffer of zeros. Lack of memory is an error, instead of aborting as `vec!` would.
pub(crate) fn buffer(len_bytes: u64) -> io::Result<Vec<u8>> {
    let out_of_memory = || {
        let reason = format!("there is no memory for {len_bytes} bytes");
        io::Error::new(io::ErrorKind::OutOfMemory, reason)
    };
    let len = usize::try_from(len_bytes).map_err(|_| out_of_memory())?;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(len).map_err(|_| out_of_memory())?;
    buffer.resize(len, 0);
    Ok(buffer)
}

/// The first entries of a folder, in no particular order: their names, and `true` for folders. Empty if it cannot be
/// listed.
pub(crate) fn entries(folder: &Path, most: usize) -> Vec<(String, bool)> {
    #[cfg(feature = "stores")]
    if let Some(address) = stored::address(folder) {
        return stored::entries(&address, most);
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(most);
    let named = entries.flatten().map(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        (entry.file_name().to_string_lossy().into_owned(), is_folder)
    });
    named.collect()
}

/// Types of file systems that other machines write to, or that are not known: their events are not all reported.
/// From `linux/magic.h`; Lustre's and GPFS's from their sources.
#[cfg(target_os = "linux")]
const SHARED_FILE_SYSTEMS: [u64; 8] = [
    0x6969,      // NFS
    0x0BD0_0BD0, // Lustre
    0x4750_4653, // GPFS
    0x00C3_6400, // Ceph
    0x6573_5546, // FUSE
    0xFF53_4D42, // CIFS
    0xFE53_4D42, // SMB 2
    0x0102_1997, // 9p
];

/// True if the system reports all changes below each of some folders.
pub(crate) fn report_changes(folders: &[PathBuf]) -> bool {
    folders.iter().all(|folder| reports_changes(folder))
}

fn reports_changes(folder: &Path) -> bool {
    if is_address(folder) {
        return false;
    }
    #[cfg(target_os = "linux")]
    return rustix::fs::statfs(folder).is_ok_and(|found| {
        let kind = u64::try_from(found.f_type);
        kind.is_ok_and(|kind| !SHARED_FILE_SYSTEMS.contains(&kind))
    });
    #[cfg(not(target_os = "linux"))]
    true
}

/// Type of a special file in words; `None` for a regular file.
pub(crate) fn special(kind: FileType) -> Option<&'static str> {
    Some(match () {
        () if kind.is_file() => return None,
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{Mode, mkfifoat};

    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        mkfifoat(rustix::fs::CWD, path("pipe"), Mode::RUSR).unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        std::os::unix::fs::symlink("pipe", path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zeros")).unwrap();
        fs::write(path("file"), b"content").unwrap();
        for (name, reason) in [
            ("pipe", "a named pipe"),
            ("link", "a named pipe"),
            ("zeros", "a device"),
            ("", "a folder"),
        ] {
            let error = open(&path(name)).err().unwrap().to_string();
            assert!(error.contains(reason), "{name}: {error}");
            assert_eq!(head(&path(name)), b"", "{name}");
        }
        assert!(open(&path("socket")).is_err());
        assert_eq!(head(&path("file")), b"content");
        assert_eq!(tail(&path("file"), 3), b"ent");
        assert_eq!(tail(&path("file"), 30), b"content");
        assert_eq!(tail(&path("pipe"), 3), b"");
        assert_eq!(read(&path("file"), 7).unwrap(), b"content");
        assert!(read(&path("file"), 6).is_err());
    }

    #[test]
    fn stores_report_no_changes() {
        let dir = tempfile::tempdir().unwrap();
        assert!(reports_changes(dir.path()));
        assert!(!reports_changes(Path::new("s3://bucket/runs")));
        assert!(!reports_changes(&dir.path().join("absent")));
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert_eq!(buffer(3).unwrap(), [0; 3]);
        let error = buffer(u64::MAX / 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    }
}
