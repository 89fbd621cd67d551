//! Recordings in object stores: S3 and all that speak its protocol, Google Cloud Storage, Azure Blob Storage, HTTP.
//!
//! Readers stay synchronous. The requests run on one runtime of this crate, and a reader waits for its own. All objects
//! below an address are known from one flat listing, which is made again at an interval; objects that grow are asked in
//! between, each with one conditional request for the bytes that were not read yet.

mod address;
mod client;
mod counter;
mod errors;
mod listing;
mod object;
mod refresh;
#[cfg(feature = "stand-in")]
pub mod stand_in;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::sync::Arc;

use object_store::{PutMode, PutOptions, UpdateVersion};

pub use address::{Address, AddressError, is_address};
pub use counter::Requests;
pub use listing::{Facts, Listing, list, problem};
pub use object::Object;
pub use refresh::{look_again, note_request, set_interval};

use client::{Store, wait};

/// Facts about an object: from the last listing that covers it, else from one request.
pub fn facts(address: &Address) -> io::Result<Facts> {
    let store = Store::of(address)?;
    match listing::covering(&store, address) {
        Some(listing) => listing
            .get(&address.key)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into()),
        None => object::head(&store, address),
    }
}

/// True if an object is below an address.
pub fn is_folder(address: &Address) -> io::Result<bool> {
    let store = Store::of(address)?;
    if let Some(listing) = listing::covering(&store, address) {
        return Ok(listing.has_below(address));
    }
    listing::is_any_below(&store, address)
}

/// Facts about an object by the last listing that covers it; nothing is requested.
pub fn listed(address: &Address) -> Option<Facts> {
    let store = Store::of(address).ok()?;
    listing::covering(&store, address)?
        .get(&address.key)
        .cloned()
}

/// The first names below an address by the last listing that covers it, and `true` for folders; nothing is requested.
pub fn entries(address: &Address, max: usize) -> Vec<(String, bool)> {
    let listing = Store::of(address)
        .ok()
        .and_then(|store| listing::covering(&store, address));
    listing.map_or_else(Vec::new, |listing| listing.entries(address, max))
}

/// Writes a whole object. It fails if another program has changed the object since its facts were known here.
pub fn put(address: &Address, bytes: Vec<u8>) -> io::Result<()> {
    let store = Store::of(address)?;
    let known = facts(address).ok();
    let mode = match known.and_then(|known| known.version) {
        Some(version) => PutMode::Update(UpdateVersion {
            e_tag: Some(version.to_string()),
            version: None,
        }),
        None => PutMode::Create,
    };
    put_with(&store, address, bytes, mode)
}

/// Maximum length of an object that is written by one request, and of the parts of a longer one.
const PART_BYTES: u64 = 16 << 20;

/// Writes an object of this length over any earlier one, a part at a time.
pub fn upload(address: &Address, content: &mut dyn Read, len_bytes: u64) -> io::Result<()> {
    use object_store::{MultipartUpload, ObjectStoreExt as _};
    let store = Store::of(address)?;
    let part = |content: &mut dyn Read, len: u64| {
        let mut bytes = Vec::new();
        content.take(len).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == len {
            Ok(bytes)
        } else {
            Err(io::Error::from(io::ErrorKind::UnexpectedEof))
        }
    };
    if len_bytes <= PART_BYTES {
        let bytes = part(content, len_bytes)?;
        return put_with(&store, address, bytes, PutMode::Overwrite);
    }
    let failed = |error| errors::explain(&address.to_string(), "writing", &error);
    let key = store.key(address)?;
    let objects = Arc::clone(&store.objects);
    let begun = wait(async move { objects.put_multipart(&key).await })?;
    let mut parts: Box<dyn MultipartUpload> = begun.map_err(failed)?;
    let mut left = len_bytes;
    while left > 0 {
        let bytes = match part(content, left.min(PART_BYTES)) {
            Ok(bytes) => bytes,
            Err(error) => {
                // Parts that are left behind cost money.
                wait(async move { parts.abort().await })?.map_err(failed)?;
                return Err(error);
            }
        };
        left -= bytes.len() as u64;
        let (back, put) = wait(async move {
            let put = parts.put_part(bytes.into()).await;
            (parts, put)
        })?;
        parts = back;
        if let Err(error) = put {
            drop(wait(async move { parts.abort().await })?);
            return Err(failed(error));
        }
    }
    wait(async move { parts.complete().await })?.map_err(failed)?;
    Ok(())
}

fn put_with(
    store: &Arc<Store>,
    address: &Address,
    bytes: Vec<u8>,
    mode: PutMode,
) -> io::Result<()> {
    let key = store.key(address)?;
    let objects = Arc::clone(&store.objects);
    let options = PutOptions::from(mode);
    let put = wait(async move { objects.put_opts(&key, bytes.into(), options).await })?;
    put.map_err(|error| errors::explain(&address.to_string(), "writing", &error))?;
    let facts = object::head(store, address)?;
    listing::note(store, address, Some(&facts));
    Ok(())
}

/// Removes an object, if it exists.
pub fn remove(address: &Address) -> io::Result<()> {
    use object_store::ObjectStoreExt as _;
    let store = Store::of(address)?;
    let key = store.key(address)?;
    let objects = Arc::clone(&store.objects);
    match wait(async move { objects.delete(&key).await })? {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
        Err(error) => return Err(errors::explain(&address.to_string(), "removing", &error)),
    }
    listing::note(&store, address, None);
    Ok(())
}

/// The requests that were made so far, by the name of the store.
pub fn requests() -> Vec<(String, Arc<Requests>)> {
    let stores = client::all();
    let counted = stores
        .into_iter()
        .map(|store| (store.name.clone(), Arc::clone(&store.requests)));
    counted.collect()
}
