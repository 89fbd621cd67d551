//! Keeps listings up to date: at an interval, and by one request for each object that grows.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use futures_util::stream::{self, StreamExt as _};
use object_store::{GetOptions, GetRange, ObjectStoreExt as _};
use parking_lot::Mutex;

use crate::address::Address;
use crate::client::{Store, begin, wait};
use crate::listing::{Base, CONNECTIONS, Facts, Listing, complete};
use crate::object::GROWS_FOR;

/// Interval of listings unless another one is set: 22 USD a month for 100,000 objects in S3.
const LIST_INTERVAL: Duration = Duration::from_mins(1);
/// Minimum interval of listings.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(5);
/// Interval of listings while no page asks.
const IDLE_LIST_INTERVAL: Duration = Duration::from_mins(10);
/// Time without a request of a page until listings are made less often.
const IDLE_AFTER: Duration = Duration::from_mins(10);
/// Interval of looks at objects that grow.
const LOOK_INTERVAL: Duration = Duration::from_secs(8);
/// Time since the last change of an object, divided by that between two requests for it: what has not grown for a minute
/// is asked every six seconds, for ten minutes every minute.
const PATIENCE: u32 = 10;
/// Maximum number of objects of a look, those that were changed last; the others wait for a listing.
const MAX_LOOKED_AT: usize = 256;
/// Maximum number of new bytes that a look brings; more are read as the rest of the object.
const MAX_NEWS_BYTES: u64 = 256 << 10;

static INTERVAL_MILLIS: AtomicU64 = AtomicU64::new(0);
static LAST_REQUEST: Mutex<Option<Instant>> = Mutex::new(None);

/// Sets the interval of listings, at least five seconds.
pub fn set_interval(interval: Duration) {
    let interval = interval.max(MIN_LIST_INTERVAL);
    let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
    INTERVAL_MILLIS.store(millis, Ordering::Relaxed);
}

/// Notes that a page asks for something: listings are made at the short interval from now on.
pub fn note_request() {
    *LAST_REQUEST.lock() = Some(Instant::now());
}

fn list_interval(age: Duration) -> Duration {
    let set = match INTERVAL_MILLIS.load(Ordering::Relaxed) {
        0 => LIST_INTERVAL,
        millis => Duration::from_millis(millis),
    };
    let last = *LAST_REQUEST.lock();
    let is_idle = last.map_or(age, |last| last.elapsed()) > IDLE_AFTER;
    if is_idle {
        set.max(IDLE_LIST_INTERVAL)
    } else {
        set
    }
}

/// Time since the first call.
fn age() -> Duration {
    static BEGAN: Mutex<Option<Instant>> = Mutex::new(None);
    BEGAN.lock().get_or_insert_with(Instant::now).elapsed()
}

/// Begins what is due for an address. Nothing waits for it.
pub(crate) fn begin_if_due(store: &Arc<Store>, base: &Arc<Base>) -> io::Result<()> {
    let is_due = |at: Option<Instant>, interval| at.is_none_or(|at| at.elapsed() >= interval);
    let mut state = base.state.lock();
    if state.is_busy {
        return Ok(());
    }
    let listed = state.listed.map(|(at, _)| at);
    let lists = is_due(listed, list_interval(age())) && state.may_try();
    let looks = state.listing.is_some() && is_due(state.looked, LOOK_INTERVAL);
    if !lists && !looks {
        return Ok(());
    }
    state.is_busy = true;
    drop(state);
    let (store, base) = (Arc::clone(store), Arc::clone(base));
    begin(async move {
        if lists {
            list_again(&store, &base).await;
        } else {
            look(&store, &base).await;
        }
    })
}

/// Lists again. With an error the earlier listing stays.
pub(crate) async fn list_again(store: &Arc<Store>, base: &Base) {
    let began = (Instant::now(), SystemTime::now());
    let listed = complete(store, base).await;
    let earlier = base.state.lock().listing.clone();
    let done = match listed {
        Ok(mut listing) => {
            if let Some(earlier) = earlier {
                compare(store, base, &earlier, &mut listing).await;
            }
            Ok(listing)
        }
        Err(error) => Err(error),
    };
    let mut state = base.state.lock();
    state.is_busy = false;
    state.looked = Some(Instant::now());
    match done {
        Ok(listing) => {
            state.failed = None;
            state.listed = Some(began);
            state.listing = Some(Arc::new(listing));
        }
        Err(error) => state.failed = Some((Instant::now(), error.kind(), error.to_string())),
    }
}

/// Sees for the objects of a new listing that have changed if they continue what was read.
async fn compare(store: &Arc<Store>, base: &Base, earlier: &Listing, listing: &mut Listing) {
    let mut changed = Vec::new();
    let mut kept = Vec::new();
    for (key, facts) in listing.objects() {
        match earlier.get(key) {
            Some(before) if before.version == facts.version => {
                kept.push((Arc::clone(key), before.lineage));
            }
            Some(before) => changed.push((Arc::clone(key), before.clone())),
            None => {}
        }
    }
    for (key, lineage) in kept {
        if let Some(facts) = listing.get(&key)
            && facts.lineage != lineage
        {
            let facts = Facts {
                lineage,
                ..facts.clone()
            };
            listing.set(&key, Some(facts));
        }
    }
    for (key, facts) in ask_all(store, base, changed).await {
        listing.set(&key, Some(facts));
    }
}

/// Asks for the objects that may have grown.
pub(crate) async fn look(store: &Arc<Store>, base: &Base) {
    let due = begin_look(store, base);
    let found = ask_all(store, base, due).await;
    let mut state = base.state.lock();
    if let Some(listing) = state.listing.as_mut().filter(|_| !found.is_empty()) {
        let listing = Arc::make_mut(listing);
        for (key, facts) in found {
            listing.set(&key, Some(facts));
        }
    }
    state.is_busy = false;
    state.looked = Some(Instant::now());
}

/// The objects that may have grown and are to be asked now.
fn begin_look(store: &Store, base: &Base) -> Vec<(Arc<str>, Facts)> {
    let mut state = base.state.lock();
    let listing = state.listing.clone();
    let now = SystemTime::now();
    let age = |facts: &Facts| now.duration_since(facts.modified).unwrap_or_default();
    let mut growing: Vec<(Arc<str>, Facts)> = listing
        .iter()
        .flat_map(|listing| listing.objects())
        .filter(|(_, facts)| age(facts) < GROWS_FOR)
        .map(|(key, facts)| (Arc::clone(key), facts.clone()))
        .collect();
    growing.sort_by_key(|(_, facts)| std::cmp::Reverse(facts.modified));
    growing.truncate(MAX_LOOKED_AT);
    forget_others(store, base, &growing);
    let earlier = std::mem::take(&mut state.asked);
    let mut due = Vec::new();
    for (key, facts) in growing {
        let at = earlier.get(&key).copied();
        let is_due = at.is_none_or(|at| at.elapsed() >= age(&facts) / PATIENCE);
        let at = at.filter(|_| !is_due).unwrap_or_else(Instant::now);
        state.asked.insert(Arc::clone(&key), at);
        if is_due {
            due.push((key, facts));
        }
    }
    due
}

/// Forgets what was read of objects that are not asked any more.
fn forget_others(store: &Store, base: &Base, growing: &[(Arc<str>, Facts)]) {
    let asked: HashSet<&str> = growing.iter().map(|(key, _)| &**key).collect();
    let is_kept = |key: &str| base.address.below(key).is_none() || asked.contains(key);
    let mut tails = store.tails.lock();
    tails.of_keys.retain(|key, _| is_kept(key));
    tails.news.retain(|key, _| is_kept(key));
}

/// Asks for an object now, because another version of it was met while it was read.
pub fn look_again(address: &Address) -> io::Result<()> {
    let store = Store::of(address)?;
    let bases = store.bases.lock().clone();
    for base in bases {
        let listing = base.state.lock().listing.clone();
        let Some(before) = listing.and_then(|listing| listing.get(&address.key).cloned()) else {
            continue;
        };
        let (asked, of) = (Arc::clone(&store), Arc::clone(&base));
        let key = address.key.clone();
        let now = wait(async move { ask(&asked, &of, &key, &before).await })?;
        if let Some(now) = now
            && let Some(listing) = base.state.lock().listing.as_mut()
        {
            Arc::make_mut(listing).set(&address.key, Some(now));
        }
    }
    Ok(())
}

/// Asks for objects at most [`CONNECTIONS`] at a time; those that have changed, with their new facts.
async fn ask_all(
    store: &Arc<Store>,
    base: &Base,
    objects: Vec<(Arc<str>, Facts)>,
) -> Vec<(Arc<str>, Facts)> {
    let asked = stream::iter(objects.into_iter().take(MAX_LOOKED_AT))
        .map(|(key, before)| async move {
            let now = ask(store, base, &key, &before).await;
            now.map(|now| (key, now))
        })
        .buffer_unordered(CONNECTIONS);
    asked.filter_map(|found| async { found }).collect().await
}

/// Facts about an object that has changed, by one conditional request for what follows the bytes that were read; `None`
/// if it has not changed, or cannot be asked: a complete listing decides.
async fn ask(store: &Arc<Store>, base: &Base, key: &str, before: &Facts) -> Option<Facts> {
    let address = base.address.with_key(key);
    let path = store.key(&address).ok()?;
    let tail = store.tails.lock().of_keys.get(key).cloned();
    let tail = tail.filter(|tail| tail.lineage == before.lineage);
    let if_none_match = before.version.as_deref().map(str::to_owned);
    let options = match &tail {
        Some(tail) => {
            let from = tail.end - tail.last.len() as u64;
            GetOptions {
                if_none_match,
                range: Some(GetRange::Bounded(from..tail.end + MAX_NEWS_BYTES)),
                ..GetOptions::default()
            }
        }
        None => GetOptions {
            if_none_match,
            head: true,
            ..GetOptions::default()
        },
    };
    let answer = match store.objects.get_opts(&path, options).await {
        Ok(answer) => answer,
        Err(object_store::Error::NotModified { .. } | object_store::Error::NotFound { .. }) => {
            return None;
        }
        // A range behind the end: the object is shorter than what was read.
        Err(_) => {
            let now = store.objects.head(&path).await.ok()?;
            let mut facts = Facts::new(&store.name, key, &now);
            let is_shorter = tail.is_some_and(|tail| facts.len_bytes < tail.end);
            facts.lineage = before.lineage;
            if is_shorter {
                facts.begin_line();
                forget(store, key);
            }
            return Some(facts).filter(|facts| facts.version != before.version);
        }
    };
    let mut facts = Facts::new(&store.name, key, &answer.meta);
    facts.lineage = before.lineage;
    if let Some(tail) = tail {
        let bytes = answer.bytes().await.ok()?;
        store.requests.add_bytes(bytes.len());
        if bytes.starts_with(&tail.last) {
            let news = bytes.slice(tail.last.len()..);
            let mut tails = store.tails.lock();
            tails.news.insert(key.to_owned(), (tail.end, news));
        } else {
            facts.begin_line();
            forget(store, key);
        }
    }
    Some(facts).filter(|facts| facts.version != before.version)
}

/// Forgets what was read of an object that was replaced.
fn forget(store: &Store, key: &str) {
    let mut tails = store.tails.lock();
    tails.of_keys.remove(key);
    tails.news.remove(key);
}
