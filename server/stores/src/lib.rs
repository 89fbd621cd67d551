//! Recordings in object stores: S3 and all that speak its protocol, Google Cloud Storage, Azure Blob Storage, HTTP.
//!
//! Readers stay synchronous. The requests run on one runtime of this crate, and a reader waits for its own. What is
//! below an address is known from one flat listing, which is made again at an interval; objects that grow are asked in
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

use std::io;
use std::sync::Arc;

use object_store::{PutMode, PutOptions, UpdateVersion};

pub use address::{Address, AddressError, is_address};
pub use counter::Requests;
pub use listing::{Facts, Listing, list, problem};
pub use object::Object;
pub use refresh::{note_request, set_interval};

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

/// True if some object lies below an address.
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

/// Writes a whole object over any earlier one.
pub fn overwrite(address: &Address, bytes: Vec<u8>) -> io::Result<()> {
    put_with(&Store::of(address)?, address, bytes, PutMode::Overwrite)
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
