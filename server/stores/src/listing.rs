//! The objects below an address: one flat listing, kept until a newer one is complete.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _};
use parking_lot::Mutex;
use twox_hash::XxHash3_64;

use crate::address::Address;
use crate::client::{Store, wait};
use crate::errors::explain;
use crate::refresh;

/// Number of objects of one page.
const PAGE: usize = 1_000;
/// Number of objects above which the folders of the first level are listed at once.
const MANY: usize = 4 * PAGE;
/// Maximum number of folders that are listed each by itself: one more request for each.
const MAX_FOLDERS: usize = 64;
/// Maximum number of requests for listings at a time.
pub(crate) const CONNECTIONS: usize = 16;
/// Time until a listing that failed is tried again.
const FAILED_FOR: Duration = Duration::from_mins(1);

/// Facts about an object at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Length in bytes.
    pub len_bytes: u64,
    /// Time of its last change.
    pub modified: SystemTime,
    /// Its `ETag`, if the store gives one: another one with each change.
    pub version: Option<Arc<str>>,
    /// Number of the line of versions that continue each other; another one for an object that was replaced.
    pub lineage: u64,
}

impl Facts {
    pub(crate) fn new(store: &str, key: &str, object: &ObjectMeta) -> Self {
        Self {
            len_bytes: object.size,
            modified: object.last_modified.into(),
            version: object.e_tag.as_deref().map(Into::into),
            lineage: XxHash3_64::oneshot(format!("{store}/{key}").as_bytes()),
        }
    }

    /// The line of versions that begins with this one.
    pub(crate) fn begin_line(&mut self) {
        let version = self.version.as_deref().unwrap_or_default();
        let text = format!("{} {version} {:?}", self.lineage, self.modified);
        self.lineage = XxHash3_64::oneshot(text.as_bytes());
    }
}

/// The objects below an address.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Objects of wanted names by key.
    objects: BTreeMap<Arc<str>, Facts>,
    /// Length of the address's key and the slash behind it.
    base_len: usize,
    /// The object at the address itself, with its key, if there is nothing below.
    single: Option<(String, Facts)>,
    /// Number of objects of other names, by extension in lower case.
    pub other: BTreeMap<String, u64>,
    /// Folders that could not be listed: path below the address, and reason.
    pub unreadable: Vec<(String, String)>,
}

impl Listing {
    /// The wanted objects: path below the address, and facts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Facts)> {
        let objects = self.objects.iter();
        objects.map(|(key, facts)| (key.get(self.base_len..).unwrap_or_default(), facts))
    }

    /// True if there is nothing below the address.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.other.is_empty() && self.unreadable.is_empty()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Facts> {
        let single = self.single.as_ref();
        let single = single.filter(|(single, _)| single == key);
        self.objects.get(key).or(single.map(|(_, facts)| facts))
    }

    /// True if a wanted object is below an address.
    pub(crate) fn has_below(&self, address: &Address) -> bool {
        // Keys such as `a-b` are between `a` and `a/`.
        let first: Arc<str> = match &*address.key {
            "" => "".into(),
            key => format!("{key}/").into(),
        };
        let mut from = self.objects.range(first..);
        from.next()
            .is_some_and(|(key, _)| address.below(key).is_some())
    }

    /// The first names below an address, and `true` for folders.
    pub(crate) fn entries(&self, address: &Address, max: usize) -> Vec<(String, bool)> {
        let prefix = match &*address.key {
            "" => String::new(),
            key => format!("{key}/"),
        };
        let mut names = Vec::new();
        let mut from: Arc<str> = prefix.clone().into();
        while names.len() < max
            && let Some((key, _)) = self.objects.range(from..).next()
            && let Some(below) = key.strip_prefix(&*prefix)
        {
            if let Some((folder, _)) = below.split_once('/') {
                names.push((folder.to_owned(), true));
                // `0` is the character after the slash.
                from = format!("{prefix}{folder}0").into();
            } else {
                names.push((below.to_owned(), false));
                from = format!("{key}\0").into();
            }
        }
        names
    }

    pub(crate) fn objects(&self) -> &BTreeMap<Arc<str>, Facts> {
        &self.objects
    }

    pub(crate) fn set(&mut self, key: &str, facts: Option<Facts>) {
        match facts {
            Some(facts) => drop(self.objects.insert(key.into(), facts)),
            None => drop(self.objects.remove(key)),
        }
    }
}

/// An address whose listing is kept up to date.
pub(crate) struct Base {
    pub(crate) address: Address,
    is_wanted: fn(&str) -> bool,
    pub(crate) state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) listing: Option<Arc<Listing>>,
    /// Time of the last complete listing.
    pub(crate) listed: Option<(Instant, SystemTime)>,
    pub(crate) looked: Option<Instant>,
    /// Time and error of the last listing that failed.
    pub(crate) failed: Option<(Instant, io::ErrorKind, String)>,
    /// Time of the last request for each object that may grow.
    pub(crate) asked: HashMap<Arc<str>, Instant>,
    /// True while requests are on their way.
    pub(crate) is_busy: bool,
}

/// The objects below an address: the first time by a complete listing, later by the last complete one, while a newer one
/// is on its way at an interval. `is_wanted` decides by the path below the address which objects are kept.
pub fn list(address: &Address, is_wanted: fn(&str) -> bool) -> io::Result<Arc<Listing>> {
    let store = Store::of(address)?;
    let base = base(&store, address, is_wanted);
    let (is_first, answer) = {
        let mut state = base.state.lock();
        let is_first = state.listing.is_none() && state.failed.is_none() && !state.is_busy;
        state.is_busy |= is_first;
        (is_first, state.answer())
    };
    if !is_first {
        refresh::begin_if_due(&store, &base)?;
        return answer;
    }
    let (asked, of) = (Arc::clone(&store), Arc::clone(&base));
    wait(async move { refresh::list_again(&asked, &of).await })?;
    base.state.lock().answer()
}

/// A sentence about a store that does not answer any more; `None` if the last listing was complete.
pub fn problem(address: &Address) -> Option<(SystemTime, String)> {
    let store = Store::of(address).ok()?;
    let bases = store.bases.lock();
    let state = bases.iter().find(|base| base.address == *address)?;
    let state = state.state.lock();
    let (_, _, reason) = state.failed.as_ref()?;
    Some((state.listed?.1, reason.clone()))
}

impl State {
    fn answer(&self) -> io::Result<Arc<Listing>> {
        match (&self.listing, &self.failed) {
            (Some(listing), _) => Ok(Arc::clone(listing)),
            (None, Some((_, kind, reason))) => Err(io::Error::new(*kind, reason.clone())),
            (None, None) => Err(io::Error::other("it is being listed")),
        }
    }

    /// True if a listing that failed may be tried again.
    pub(crate) fn may_try(&self) -> bool {
        let failed = self.failed.as_ref();
        failed.is_none_or(|(at, ..)| at.elapsed() >= FAILED_FOR)
    }
}

fn base(store: &Arc<Store>, address: &Address, is_wanted: fn(&str) -> bool) -> Arc<Base> {
    let mut bases = store.bases.lock();
    if let Some(base) = bases.iter().find(|base| base.address == *address) {
        return Arc::clone(base);
    }
    let base = Arc::new(Base {
        address: address.clone(),
        is_wanted,
        state: Mutex::default(),
    });
    bases.push(Arc::clone(&base));
    base
}

/// The listing that an address is in, if there is one.
pub(crate) fn covering(store: &Store, address: &Address) -> Option<Arc<Listing>> {
    let bases = store.bases.lock();
    bases.iter().find_map(|base| {
        let listing = base.state.lock().listing.clone()?;
        let is_it = base.address == *address;
        (is_it || base.address.below(&address.key).is_some()).then_some(listing)
    })
}

/// Takes the facts of an object that was written or removed here into all listings.
pub(crate) fn note(store: &Store, address: &Address, facts: Option<&Facts>) {
    for base in store.bases.lock().iter() {
        let is_below = base.address.below(&address.key).is_some();
        if let Some(listing) = base.state.lock().listing.as_mut().filter(|_| is_below) {
            Arc::make_mut(listing).set(&address.key, facts.cloned());
        }
    }
}

/// True if the store has an object below an address, by one request.
pub(crate) fn is_any_below(store: &Arc<Store>, address: &Address) -> io::Result<bool> {
    let prefix = prefix(store, address)?;
    let store = Arc::clone(store);
    let first = wait(async move { store.objects.list(prefix.as_ref()).next().await })?;
    match first {
        None => Ok(false),
        Some(Ok(_)) => Ok(true),
        Some(Err(error)) => Err(explain(&address.to_string(), "listing", &error)),
    }
}

fn prefix(store: &Store, address: &Address) -> io::Result<Option<Key>> {
    Ok(Some(store.key(address)?).filter(|_| !address.key.is_empty()))
}

/// A listing in the making.
struct Draft<'a> {
    base: &'a Base,
    store: &'a str,
    listing: Listing,
}

impl Draft<'_> {
    fn add(&mut self, object: &ObjectMeta) {
        let key = object.location.as_ref();
        let Some(below) = self
            .base
            .address
            .below(key)
            .filter(|below| !below.is_empty())
        else {
            return;
        };
        if object.size == 0 && (key.ends_with('/') || below.is_empty()) {
            return;
        }
        if (self.base.is_wanted)(below) {
            let facts = Facts::new(self.store, key, object);
            self.listing.objects.insert(key.into(), facts);
        } else {
            let name = below.rsplit('/').next().unwrap_or_default();
            let extension = name.rsplit_once('.').map_or("", |(_, after)| after);
            let extension = extension.to_ascii_lowercase();
            *self.listing.other.entry(extension).or_default() += 1;
        }
    }
}

/// Lists all below an address. An error leaves nothing: only a complete listing may say what is gone.
pub(crate) async fn complete(store: &Store, base: &Base) -> io::Result<Listing> {
    let failed = |error| explain(&base.address.to_string(), "listing", &error);
    let key = &base.address.key;
    let mut draft = Draft {
        base,
        store: &store.name,
        listing: Listing {
            base_len: key.len() + usize::from(!key.is_empty()),
            ..Listing::default()
        },
    };
    let Some(pages) = &store.pages else {
        // Few servers of HTTP list; a single file can be read from all.
        draft.listing.single = single(store, base).await.map_err(failed)?;
        if draft.listing.single.is_none() {
            let prefix = prefix(store, &base.address)?;
            let mut objects = store.objects.list(prefix.as_ref());
            while let Some(object) = objects.next().await {
                draft.add(&object.map_err(failed)?);
            }
        }
        return Ok(draft.listing);
    };
    match in_pages(&**pages, &mut draft).await {
        // One key that the client cannot express must not hide all others.
        Err(object_store::Error::InvalidPath { .. }) => {
            draft.listing.objects.clear();
            draft.listing.other.clear();
            by_folder(store, &mut draft).await.map_err(failed)?;
        }
        all => all.map_err(failed)?,
    }
    if draft.listing.is_empty() {
        draft.listing.single = single(store, base).await.map_err(failed)?;
    }
    Ok(draft.listing)
}

/// The object at the address itself.
async fn single(store: &Store, base: &Base) -> object_store::Result<Option<(String, Facts)>> {
    let key = &base.address.key;
    if key.is_empty() {
        return Ok(None);
    }
    match store.objects.head(&Key::parse(key)?).await {
        Ok(object) => Ok(Some((key.clone(), Facts::new(&store.name, key, &object)))),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lists page by page; above [`MANY`] objects, the folders of the first level at once.
async fn in_pages(
    pages: &dyn PaginatedListStore,
    draft: &mut Draft<'_>,
) -> object_store::Result<()> {
    let root = match &*draft.base.address.key {
        "" => String::new(),
        key => format!("{key}/"),
    };
    let mut token = None;
    let mut count = 0;
    let mut last = String::new();
    let mut may_split = true;
    loop {
        let PaginatedListResult { result, page_token } = page(pages, &root, token, None).await?;
        count += result.objects.len();
        for object in &result.objects {
            if object.location.as_ref() > &*last {
                object.location.as_ref().clone_into(&mut last);
            }
            draft.add(object);
        }
        token = page_token;
        if token.is_none() {
            return Ok(());
        }
        if count >= MANY && std::mem::take(&mut may_split) {
            let folders = page(pages, &root, None, Some("/")).await?;
            let names = folders.result.common_prefixes;
            let is_few = folders.page_token.is_none() && names.len() <= MAX_FOLDERS;
            if !is_few || names.len() < 2 {
                continue;
            }
            for object in &folders.result.objects {
                draft.add(object);
            }
            let rest = names.into_iter().map(|name| format!("{name}/"));
            let rest = rest.filter(|name| name.as_str() > &*last || last.starts_with(name));
            let lists = stream::iter(rest)
                .map(|name| of_folder(pages, name, last.clone()))
                .buffer_unordered(CONNECTIONS);
            let all: Vec<Vec<ObjectMeta>> = lists.try_collect().await?;
            all.iter().flatten().for_each(|object| draft.add(object));
            return Ok(());
        }
    }
}

/// All objects of one folder, those that were listed already left out as the store can.
async fn of_folder(
    pages: &dyn PaginatedListStore,
    name: String,
    last: String,
) -> object_store::Result<Vec<ObjectMeta>> {
    let mut objects = Vec::new();
    let mut options = PaginatedListOptions {
        offset: Some(last).filter(|last| last.starts_with(&name)),
        max_keys: Some(PAGE),
        ..PaginatedListOptions::default()
    };
    loop {
        let listed = pages.list_paginated(Some(&name), options.clone()).await?;
        objects.extend(listed.result.objects);
        if listed.page_token.is_none() {
            return Ok(objects);
        }
        options.page_token = listed.page_token;
    }
}

async fn page(
    pages: &dyn PaginatedListStore,
    root: &str,
    page_token: Option<String>,
    delimiter: Option<&'static str>,
) -> object_store::Result<PaginatedListResult> {
    let options = PaginatedListOptions {
        delimiter: delimiter.map(Into::into),
        max_keys: Some(PAGE),
        page_token,
        ..PaginatedListOptions::default()
    };
    let root = Some(root).filter(|root| !root.is_empty());
    pages.list_paginated(root, options).await
}

/// Lists folder by folder; one with a key that cannot be expressed is noted and left out.
async fn by_folder(store: &Store, draft: &mut Draft<'_>) -> object_store::Result<()> {
    let root = Key::parse(&draft.base.address.key)?;
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        match store.objects.list_with_delimiter(Some(&folder)).await {
            Ok(listed) => {
                folders.extend(listed.common_prefixes);
                listed.objects.iter().for_each(|object| draft.add(object));
            }
            Err(error @ object_store::Error::InvalidPath { .. }) => {
                let below = draft.base.address.below(folder.as_ref());
                let below = below.unwrap_or_default().to_owned();
                let reason = format!("a key in it cannot be read: {error}");
                draft.listing.unreadable.push((below, reason));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
