//! One object, read like a file: ranges ahead of a sequential reader, all of one version.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use object_store::{GetOptions, GetRange, ObjectStoreExt as _};
use parking_lot::Mutex;

use crate::address::Address;
use crate::client::{Store, begin, wait};
use crate::errors::explain;
use crate::listing::Facts;

/// Length of the first range; each later one of a sequential reader is twice as long.
const FIRST_RANGE_BYTES: u64 = 64 << 10;
/// Maximum length of a range: at 30 ms and 1 Gb/s, two of them on their way use the whole bandwidth.
const MAX_RANGE_BYTES: u64 = 8 << 20;
/// Bytes in all buffers together; above it, exactly what is asked for is read.
const MAX_BUFFERED_BYTES: u64 = 256 << 20;
/// Number of bytes that are compared to see that an object was continued.
pub(crate) const TAIL_BYTES: usize = 64;
/// Age of an object that may still grow.
pub(crate) const GROWS_FOR: Duration = Duration::from_hours(1);

static BUFFERED: AtomicU64 = AtomicU64::new(0);

/// Ends of the objects that grow, as they were read last, by key.
#[derive(Default)]
pub(crate) struct Tails {
    pub(crate) of_keys: HashMap<String, Tail>,
    /// The bytes behind a tail that the last look brought.
    pub(crate) news: HashMap<String, (u64, Bytes)>,
}

/// The end of what was read of an object.
#[derive(Clone)]
pub(crate) struct Tail {
    /// Number of bytes before it.
    pub(crate) end: u64,
    /// The last [`TAIL_BYTES`] of them.
    pub(crate) last: Vec<u8>,
    /// The first bytes of the object.
    pub(crate) first: Vec<u8>,
    /// The line of versions that it is of.
    pub(crate) lineage: u64,
}

/// An open object. All that is read is of the version at its opening; another version is an error.
pub struct Object {
    store: Arc<Store>,
    address: Address,
    facts: Facts,
    ahead: Mutex<Ahead>,
    /// For [`Read`] and [`Seek`].
    position: u64,
}

/// Bytes that were read before they are asked for.
#[derive(Default)]
struct Ahead {
    /// Ranges that follow each other: the first is the one being read.
    ranges: VecDeque<BufferedRange>,
    /// End of the last bytes that were handed out.
    end: u64,
    /// Length of the next range.
    window: u64,
    /// The bytes before `end`, for a sequential reader.
    last: Vec<u8>,
    first: Vec<u8>,
}

struct BufferedRange {
    range: Range<u64>,
    bytes: Pending,
}

enum Pending {
    Here(Buffer),
    Coming(mpsc::Receiver<io::Result<Buffer>>),
}

/// Bytes that count in [`BUFFERED`].
struct Buffer(Bytes);

impl Buffer {
    fn new(bytes: Bytes) -> Self {
        BUFFERED.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Self(bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        BUFFERED.fetch_sub(self.0.len() as u64, Ordering::Relaxed);
    }
}

/// Facts about an object by one request.
pub(crate) fn head(store: &Arc<Store>, address: &Address) -> io::Result<Facts> {
    let key = store.key(address)?;
    let objects = Arc::clone(&store.objects);
    let found = wait(async move { objects.head(&key).await })?;
    let found = found.map_err(|error| explain(&address.to_string(), "looking at", &error))?;
    Ok(Facts::new(&store.name, &address.key, &found))
}

impl Object {
    /// Opens an object. Without a listing that covers it this takes one request, else none.
    pub fn open(address: &Address) -> io::Result<Self> {
        let facts = crate::facts(address)?;
        let store = Store::of(address)?;
        let mut ahead = Ahead::default();
        if let Some((offset, bytes)) = store.tails.lock().news.get(&address.key).cloned() {
            ahead.ranges.push_back(BufferedRange {
                range: offset..offset + bytes.len() as u64,
                bytes: Pending::Here(Buffer::new(bytes)),
            });
            ahead.end = offset;
            ahead.window = FIRST_RANGE_BYTES;
        }
        Ok(Self {
            store,
            address: address.clone(),
            facts,
            ahead: Mutex::new(ahead),
            position: 0,
        })
    }

    /// Its facts at the opening.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The first bytes, up to a number; without a request if an earlier version is known to be continued by this one.
    pub fn first(&self, len: usize) -> io::Result<Vec<u8>> {
        let known = self.store.tails.lock();
        let known = known.of_keys.get(&self.address.key);
        let known = known.filter(|tail| tail.lineage == self.facts.lineage);
        if let Some(known) = known.filter(|tail| tail.first.len() >= len) {
            return Ok(known.first[..len].to_vec());
        }
        let mut bytes = vec![0; len];
        let mut have = 0;
        while have < len {
            match self.read_at(&mut bytes[have..], have as u64)? {
                0 => break,
                more => have += more,
            }
        }
        bytes.truncate(have);
        Ok(bytes)
    }

    /// Reads some bytes from an offset; none at the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let min = buffer.len() as u64;
        self.read_some(buffer, offset, min)
    }

    /// Reads some bytes from an offset. If they must be requested, at least `min` bytes are.
    fn read_some(&self, buffer: &mut [u8], offset: u64, min: u64) -> io::Result<usize> {
        let left = self.facts.len_bytes.saturating_sub(offset);
        if left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        let mut ahead = self.ahead.lock();
        let is_next = offset == ahead.end;
        let is_here = |fetched: &BufferedRange| fetched.range.contains(&offset);
        if !ahead.ranges.iter().any(is_here) {
            ahead.ranges.clear();
            ahead.window = if is_next && ahead.window > 0 {
                (ahead.window * 2).min(MAX_RANGE_BYTES)
            } else {
                FIRST_RANGE_BYTES
            };
            let wanted = if BUFFERED.load(Ordering::Relaxed) > MAX_BUFFERED_BYTES {
                buffer.len() as u64
            } else {
                ahead.window.max(min)
            };
            let range = offset..offset + wanted.min(left);
            let bytes = self.fetch(range.clone())?;
            ahead.ranges.push_back(BufferedRange {
                range,
                bytes: Pending::Here(bytes),
            });
        }
        while ahead.ranges.front().is_some_and(|front| !is_here(front)) {
            ahead.ranges.pop_front();
        }
        let copied = ahead.copy(buffer, offset)?;
        ahead.note(&buffer[..copied], offset);
        self.read_ahead(&mut ahead)?;
        Ok(copied)
    }

    /// Fills a buffer.
    pub fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                len => {
                    offset += len as u64;
                    buffer = &mut buffer[len..];
                }
            }
        }
        Ok(())
    }

    /// Requests the next range of a sequential reader before it is there.
    fn read_ahead(&self, ahead: &mut Ahead) -> io::Result<()> {
        let Some(last) = ahead.ranges.back() else {
            return Ok(());
        };
        let from = last.range.end;
        let is_long = last.range.end - last.range.start >= MAX_RANGE_BYTES;
        let left = self.facts.len_bytes.saturating_sub(from);
        let is_full = BUFFERED.load(Ordering::Relaxed) > MAX_BUFFERED_BYTES;
        if !is_long || left == 0 || is_full || ahead.ranges.len() > 1 {
            return Ok(());
        }
        let range = from..from + left.min(MAX_RANGE_BYTES);
        let (sender, coming) = mpsc::sync_channel(1);
        let request = self.request(range.clone())?;
        begin(async move { drop(sender.send(request.await)) })?;
        ahead.ranges.push_back(BufferedRange {
            range,
            bytes: Pending::Coming(coming),
        });
        Ok(())
    }

    fn fetch(&self, range: Range<u64>) -> io::Result<Buffer> {
        wait(self.request(range)?)?
    }

    /// The request for a range of the version at the opening.
    fn request(
        &self,
        range: Range<u64>,
    ) -> io::Result<impl Future<Output = io::Result<Buffer>> + Send + use<>> {
        let key = self.store.key(&self.address)?;
        let store = Arc::clone(&self.store);
        let address = self.address.to_string();
        let options = GetOptions {
            if_match: self.facts.version.as_deref().map(str::to_owned),
            range: Some(GetRange::Bounded(range.clone())),
            ..GetOptions::default()
        };
        Ok(async move {
            let failed = |error| explain(&address, "reading", &error);
            let answer = store.objects.get_opts(&key, options).await;
            let bytes = answer.map_err(failed)?.bytes().await.map_err(failed)?;
            if bytes.len() as u64 != range.end - range.start {
                let reason = format!("reading {address} failed: it is shorter than it was");
                return Err(io::Error::new(
                    io::ErrorKind::StaleNetworkFileHandle,
                    reason,
                ));
            }
            store.requests.add_bytes(bytes.len());
            Ok(Buffer::new(bytes))
        })
    }
}

impl Ahead {
    /// Copies bytes of the first range, waiting for them if they are on their way.
    fn copy(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let lost = || io::Error::other("the request to the store was given up");
        let Some(front) = self.ranges.front_mut() else {
            return Err(lost());
        };
        if let Pending::Coming(coming) = &front.bytes {
            let came = coming.recv().map_err(|_| lost()).and_then(|came| came);
            match came {
                Ok(bytes) => front.bytes = Pending::Here(bytes),
                Err(error) => {
                    self.ranges.clear();
                    return Err(error);
                }
            }
        }
        let Pending::Here(held) = &front.bytes else {
            return Err(lost());
        };
        let from = usize::try_from(offset - front.range.start).unwrap_or(usize::MAX);
        let bytes = held.0.get(from..).unwrap_or_default();
        let len = bytes.len().min(buffer.len());
        buffer[..len].copy_from_slice(&bytes[..len]);
        Ok(len)
    }

    /// Keeps the ends of what was handed out.
    fn note(&mut self, bytes: &[u8], offset: u64) {
        if offset == self.first.len() as u64 {
            let missing = TAIL_BYTES.saturating_sub(self.first.len());
            self.first.extend(bytes.iter().take(missing));
        }
        if offset != self.end {
            self.last.clear();
        }
        let kept = bytes.len().min(TAIL_BYTES);
        self.last.extend_from_slice(&bytes[bytes.len() - kept..]);
        let surplus = self.last.len().saturating_sub(TAIL_BYTES);
        self.last.drain(..surplus);
        self.end = offset + bytes.len() as u64;
        if self
            .ranges
            .front()
            .is_some_and(|front| front.range.end == self.end)
        {
            self.ranges.pop_front();
        }
    }
}

impl Drop for Object {
    /// Keeps the end of what was read of an object that may still grow.
    fn drop(&mut self) {
        let ahead = self.ahead.get_mut();
        let age = SystemTime::now().duration_since(self.facts.modified);
        if ahead.last.is_empty() || age.is_ok_and(|age| age > GROWS_FOR) {
            return;
        }
        let tails = &mut *self.store.tails.lock();
        let earlier = tails.of_keys.get(&self.address.key);
        let earlier = earlier.filter(|tail| tail.lineage == self.facts.lineage);
        if earlier.is_some_and(|tail| tail.end > ahead.end) {
            return;
        }
        let mut last = std::mem::take(&mut ahead.last);
        if let Some(earlier) = earlier
            && last.len() < TAIL_BYTES
            && earlier.end == ahead.end - last.len() as u64
        {
            let mut joined = earlier.last.clone();
            joined.append(&mut last);
            last = joined.split_off(joined.len().saturating_sub(TAIL_BYTES));
        }
        let first = match earlier {
            Some(tail) if tail.first.len() >= ahead.first.len() => tail.first.clone(),
            _ => std::mem::take(&mut ahead.first),
        };
        let tail = Tail {
            end: ahead.end,
            last,
            first,
            lineage: self.facts.lineage,
        };
        tails.of_keys.insert(self.address.key.clone(), tail);
    }
}

impl Read for Object {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Buffers are often longer than what is read in the end.
        let len = self.read_some(buffer, self.position, 0)?;
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for Object {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.facts.len_bytes.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
