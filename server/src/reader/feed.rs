//! Blocks on their way from the ingest loop to the judgement.
//!
//! A feed never holds the index up: blocks that do not fit are dropped, and their follower reads that part of the file
//! again.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::tail::Block;

/// Maximum number of file bytes that wait, decoded, in all feeds together. Few records take more room decoded than in
/// their file.
const MAX_WAITING_BYTES: u64 = 64 << 20;
/// Bytes that a block counts in addition to its records: its columns are allocated one by one.
const BLOCK_BYTES: u64 = 1 << 10;

/// Feeds of all files that have a follower. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Feeds(Arc<Mutex<Queues>>);

#[derive(Default)]
struct Queues {
    by_path: FxHashMap<Arc<Path>, Vec<Queue>>,
    waiting_bytes: u64,
    last_id: u64,
    /// Limit of `waiting_bytes`, if it is not [`MAX_WAITING_BYTES`].
    max_bytes: Option<u64>,
}

/// Blocks of one file for one follower.
#[derive(Default)]
struct Queue {
    id: u64,
    blocks: VecDeque<Arc<Block>>,
}

impl Feeds {
    /// The same feeds with another limit.
    #[cfg(test)]
    pub(crate) fn with_room(&self, max_bytes: u64) -> Self {
        self.0.lock().max_bytes = Some(max_bytes);
        self.clone()
    }

    /// Bytes that wait in all feeds together.
    #[cfg(test)]
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.0.lock().waiting_bytes
    }

    /// Subscribes to the later blocks of a file, until the feed is dropped.
    pub(super) fn subscribe(&self, path: &Arc<Path>) -> Feed {
        let queues = &mut *self.0.lock();
        queues.last_id += 1;
        let id = queues.last_id;
        let of_path = queues.by_path.entry(Arc::clone(path)).or_default();
        of_path.push(Queue {
            id,
            ..Queue::default()
        });
        Feed {
            feeds: self.clone(),
            path: Arc::clone(path),
            id,
        }
    }

    /// Hands a published block to all followers of its file; never waits for a follower.
    pub(crate) fn push(&self, path: &Path, block: &Arc<Block>) {
        let queues = &mut *self.0.lock();
        let max_bytes = queues.max_bytes.unwrap_or(MAX_WAITING_BYTES);
        for Queue { blocks, .. } in queues.by_path.get_mut(path).into_iter().flatten() {
            if queues.waiting_bytes + weight(block) <= max_bytes {
                queues.waiting_bytes += weight(block);
                blocks.push_back(Arc::clone(block));
            } else {
                // They would be read again with those that are missing.
                queues.waiting_bytes -= blocks.drain(..).map(|block| weight(&block)).sum::<u64>();
                blocks.push_back(Arc::new(block.without_records()));
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
    /// The next block, if one waits. It does not follow the last one if blocks were dropped.
    pub(super) fn pop(&self) -> Option<Arc<Block>> {
        let queues = &mut *self.feeds.0.lock();
        let mut of_path = queues.by_path.get_mut(&self.path)?.iter_mut();
        let queue = of_path.find(|queue| queue.id == self.id)?;
        let block = queue.blocks.pop_front()?;
        queues.waiting_bytes -= weight(&block);
        Some(block)
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

/// Bytes of the file that a block's records take, which may have come with earlier blocks; 0 for a block that only
/// marks a gap.
fn weight(block: &Block) -> u64 {
    if block.is_gap() {
        return 0;
    }
    BLOCK_BYTES + block.record_bytes
}
