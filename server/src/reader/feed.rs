//! Blocks on their way from the ingest loop to the judgement.
//!
//! A feed never holds the index up: whatever does not fit is dropped, and its follower reads that part of the file again.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::tail::Block;

/// Most bytes of files that wait, decoded, in all feeds together. Few records take more room decoded than in their file.
const MAX_WAITING_BYTES: u64 = 64 << 20;
/// Bytes that a block counts beside those of its records: its columns are allocated one by one.
const BLOCK_BYTES: u64 = 1 << 10;

/// Feeds of all files that have a follower. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Feeds(Arc<Mutex<Queues>>);

struct Queues {
    by_path: FxHashMap<Arc<Path>, Vec<Queue>>,
    waiting_bytes: u64,
    /// Limit of `waiting_bytes`.
    max_bytes: u64,
    last_id: u64,
}

impl Default for Queues {
    fn default() -> Self {
        Self {
            by_path: FxHashMap::default(),
            waiting_bytes: 0,
            max_bytes: MAX_WAITING_BYTES,
            last_id: 0,
        }
    }
}

/// Blocks of one file for one follower.
struct Queue {
    id: u64,
    blocks: VecDeque<Arc<Block>>,
    /// End of the last dropped block.
    dropped_bytes: u64,
}

/// Content of a feed.
pub(super) enum Fed {
    /// The next block.
    Block(Arc<Block>),
    /// Blocks up to this offset were dropped.
    Dropped(u64),
}

impl Feeds {
    /// The same feeds with another limit.
    #[cfg(test)]
    pub(crate) fn with_room(&self, max_bytes: u64) -> Self {
        self.0.lock().max_bytes = max_bytes;
        self.clone()
    }

    /// Bytes that wait in all feeds together.
    #[cfg(test)]
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.0.lock().waiting_bytes
    }

    /// Blocks of a file from now on, until the feed is dropped.
    pub(super) fn subscribe(&self, path: &Arc<Path>) -> Feed {
        let queues = &mut *self.0.lock();
        queues.last_id += 1;
        let queue = Queue {
            id: queues.last_id,
            blocks: VecDeque::new(),
            dropped_bytes: 0,
        };
        let of_path = queues.by_path.entry(Arc::clone(path)).or_default();
        of_path.push(queue);
        Feed {
            feeds: self.clone(),
            path: Arc::clone(path),
            id: queues.last_id,
        }
    }

    /// Hands a published block to all followers of its file; never waits for any of them.
    pub(crate) fn push(&self, path: &Path, block: &Arc<Block>) {
        let queues = &mut *self.0.lock();
        for queue in queues.by_path.get_mut(path).into_iter().flatten() {
            let fits = queues.waiting_bytes + weight(block) <= queues.max_bytes;
            if fits && queue.dropped_bytes == 0 {
                queue.blocks.push_back(Arc::clone(block));
                queues.waiting_bytes += weight(block);
            } else {
                queue.dropped_bytes = block.fed_bytes;
                // They would be read again with those that are missing.
                for dropped in queue.blocks.drain(..) {
                    queues.waiting_bytes -= weight(&dropped);
                }
            }
        }
    }
}

/// One follower's end. Dropping it ends the subscription.
pub(super) struct Feed {
    feeds: Feeds,
    path: Arc<Path>,
    id: u64,
}

impl Feed {
    /// The next block, if one waits.
    pub(super) fn pop(&self) -> Option<Fed> {
        let queues = &mut *self.feeds.0.lock();
        let mut of_path = queues.by_path.get_mut(&self.path)?.iter_mut();
        let queue = of_path.find(|queue| queue.id == self.id)?;
        if queue.dropped_bytes > 0 {
            return Some(Fed::Dropped(std::mem::take(&mut queue.dropped_bytes)));
        }
        let block = queue.blocks.pop_front()?;
        queues.waiting_bytes -= weight(&block);
        Some(Fed::Block(block))
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        let queues = &mut *self.feeds.0.lock();
        if let Some(of_path) = queues.by_path.get_mut(&self.path) {
            of_path.retain(|queue| queue.id != self.id);
            if of_path.is_empty() {
                queues.by_path.remove(&self.path);
            }
        }
    }
}

/// Bytes of the file that a block's records take, which may have come with earlier blocks.
fn weight(block: &Block) -> u64 {
    BLOCK_BYTES + block.record_bytes
}
