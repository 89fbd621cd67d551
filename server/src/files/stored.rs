//! Addresses of object stores, as paths.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

#[cfg(feature = "stores")]
use trainscope_stores::{Address, Listing};

#[cfg(feature = "stores")]
use super::file::{File, Metadata};

/// Number of threads that read from a store.
const STORE_THREADS: usize = 16;

/// True for a path that is meant as an address, such as `s3://bucket/runs`.
pub(crate) fn is_address(path: &Path) -> bool {
    #[cfg(feature = "stores")]
    return trainscope_stores::is_address(path);
    #[cfg(not(feature = "stores"))]
    {
        let scheme = path.to_str().and_then(|text| text.split_once("://"));
        scheme.is_some_and(|(scheme, _)| scheme.len() >= 2 && !scheme.contains('/'))
    }
}

/// Requests to a store since the start.
pub(crate) struct StoreRequests {
    /// Its address, such as `s3://bucket`.
    pub(crate) store: String,
    pub(crate) lists: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) bytes: u64,
    pub(crate) cost_usd: f64,
}

/// The requests to all stores.
pub(crate) fn store_requests() -> Vec<StoreRequests> {
    #[cfg(feature = "stores")]
    {
        let all = trainscope_stores::requests().into_iter();
        let counted = all.map(|(store, requests)| StoreRequests {
            store,
            lists: requests.lists(),
            reads: requests.reads(),
            writes: requests.writes(),
            bytes: requests.bytes(),
            cost_usd: requests.cost_usd(),
        });
        counted.collect()
    }
    #[cfg(not(feature = "stores"))]
    Vec::new()
}

/// Notes that a page asks for something: stores are listed more often than while no page asks.
pub(crate) fn note_request() {
    #[cfg(feature = "stores")]
    trainscope_stores::note_request();
}

/// Sets the interval of listings of stores.
pub(crate) fn set_store_interval(interval: Duration) {
    #[cfg(feature = "stores")]
    trainscope_stores::set_interval(interval);
    let _ = interval;
}

/// Number of threads for the files below some paths: each reader of a store waits for its answers most of the time.
pub(crate) fn threads<'a>(paths: impl IntoIterator<Item = &'a Path>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if paths.into_iter().any(is_address) {
        cores.max(STORE_THREADS)
    } else {
        cores
    }
}

/// Gets the facts about an object again, because it was changed while it was read; `false` for a file of this machine.
pub(crate) fn look_again(path: &Path) -> bool {
    #[cfg(feature = "stores")]
    return address(path).is_some_and(|address| trainscope_stores::look_again(&address).is_ok());
    #[cfg(not(feature = "stores"))]
    {
        let _ = path;
        false
    }
}

/// Time of the last complete listing of an address, and the reason why there is no newer one; `None` without a problem.
pub(crate) fn problem(path: &Path) -> Option<(SystemTime, String)> {
    #[cfg(feature = "stores")]
    return trainscope_stores::problem(&address(path)?);
    #[cfg(not(feature = "stores"))]
    {
        let _ = path;
        None
    }
}

/// An address in its plain form; an error for one that cannot be.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    #[cfg(feature = "stores")]
    {
        let text = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        match Address::parse(text) {
            Some(address) => Ok(address.map_err(invalid)?.to_string().into()),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    #[cfg(not(feature = "stores"))]
    {
        let _ = path;
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this program was built without object stores: build it with --features stores",
        ))
    }
}

/// The address of a path; `None` for a path of this machine.
#[cfg(feature = "stores")]
pub(super) fn address(path: &Path) -> Option<Address> {
    Address::of(path)
}

#[cfg(feature = "stores")]
pub(super) fn open(address: &Address) -> io::Result<File> {
    Ok(File::Object(Box::new(trainscope_stores::Object::open(
        address,
    )?)))
}

#[cfg(feature = "stores")]
pub(super) fn metadata(address: &Address) -> io::Result<Metadata> {
    match trainscope_stores::facts(address) {
        Ok(facts) => Ok(Metadata::object(&facts)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if trainscope_stores::is_folder(address)? {
                Ok(Metadata::folder())
            } else {
                Err(error)
            }
        }
        Err(error) => Err(error),
    }
}

/// All below an address that is wanted by its path below it.
#[cfg(feature = "stores")]
pub(crate) fn list(
    path: &Path,
    is_wanted: fn(&str) -> bool,
) -> Option<io::Result<std::sync::Arc<Listing>>> {
    Some(trainscope_stores::list(&address(path)?, is_wanted))
}

#[cfg(feature = "stores")]
pub(super) fn entries(address: &Address, max: usize) -> Vec<(String, bool)> {
    trainscope_stores::entries(address, max)
}

/// Facts about an object by the last listing.
#[cfg(feature = "stores")]
pub(super) fn listed(address: &Address) -> Option<Metadata> {
    trainscope_stores::listed(address).map(|facts| Metadata::object(&facts))
}

/// Writes a whole object, unless another program wrote it since it was read.
#[cfg(feature = "stores")]
pub(super) fn write(address: &Address, bytes: Vec<u8>) -> io::Result<()> {
    trainscope_stores::put(address, bytes)
}

/// Writes an object of this length over any earlier one, a part at a time.
#[cfg(feature = "stores")]
pub(super) fn upload(
    address: &Address,
    content: &mut dyn io::Read,
    len_bytes: u64,
) -> io::Result<()> {
    trainscope_stores::upload(address, content, len_bytes)
}

#[cfg(feature = "stores")]
pub(super) fn remove(address: &Address) -> io::Result<()> {
    trainscope_stores::remove(address)
}
