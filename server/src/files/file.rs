//! An open file of this machine, or an object of a store: both are read alike.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::SystemTime;

#[cfg(feature = "stores")]
use trainscope_stores::{Facts, Object};

/// An open file.
pub(crate) enum File {
    Local(fs::File),
    #[cfg(feature = "stores")]
    Object(Box<Object>),
}

/// Facts about a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) len_bytes: u64,
    pub(crate) modified: Option<SystemTime>,
    /// Device and inode; for an object 0, and a number that changes if it is replaced instead of continued.
    pub(crate) identity: (u64, u64),
    kind: FileKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    File,
    Folder,
    /// A pipe, a socket or a device.
    Special,
}

impl Metadata {
    pub(crate) fn local(metadata: &fs::Metadata) -> Self {
        Self {
            len_bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: (metadata.dev(), metadata.ino()),
            kind: match () {
                () if metadata.is_file() => FileKind::File,
                () if metadata.is_dir() => FileKind::Folder,
                () => FileKind::Special,
            },
        }
    }

    #[cfg(feature = "stores")]
    pub(crate) fn object(facts: &Facts) -> Self {
        Self {
            len_bytes: facts.len_bytes,
            modified: Some(facts.modified),
            identity: (0, facts.lineage),
            kind: FileKind::File,
        }
    }

    /// A folder of a store: it exists as long as there is an object below it.
    #[cfg(feature = "stores")]
    pub(super) const fn folder() -> Self {
        Self {
            len_bytes: 0,
            modified: None,
            identity: (0, 0),
            kind: FileKind::Folder,
        }
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind == FileKind::Folder
    }
}

impl File {
    /// Facts about the file: of an object, as it was opened.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        match self {
            Self::Local(file) => Ok(Metadata::local(&file.metadata()?)),
            #[cfg(feature = "stores")]
            Self::Object(object) => Ok(Metadata::object(object.facts())),
        }
    }

    /// The first bytes, up to a number.
    pub(crate) fn first(&self, len: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::Local(file) => {
                let mut bytes = vec![0; len];
                let mut have = 0;
                while have < len {
                    match file.read_at(&mut bytes[have..], have as u64) {
                        Ok(0) => break,
                        Ok(more) => have += more,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                bytes.truncate(have);
                Ok(bytes)
            }
            #[cfg(feature = "stores")]
            Self::Object(object) => object.first(len),
        }
    }

    /// Reads some bytes from an offset; none at the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Local(file) => file.read_at(buffer, offset),
            #[cfg(feature = "stores")]
            Self::Object(object) => object.read_at(buffer, offset),
        }
    }

    /// Fills a buffer with the bytes from an offset.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::Local(file) => file.read_exact_at(buffer, offset),
            #[cfg(feature = "stores")]
            Self::Object(object) => object.read_exact_at(buffer, offset),
        }
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(file) => file.read(buffer),
            #[cfg(feature = "stores")]
            Self::Object(object) => object.read(buffer),
        }
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Local(file) => file.seek(to),
            #[cfg(feature = "stores")]
            Self::Object(object) => object.seek(to),
        }
    }
}
