//! Tensors of some steps, read on all threads before they are evaluated in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use trainscope_analysis::watchpoint::Needs;
use trainscope_format::{Role, TensorSummary};

use crate::tensor_files::contents::Content;
use crate::tensor_files::read::{Before, Place, Reader, TensorReadError};

/// A tensor of a step, before it is read.
pub(super) struct Item {
    pub(super) rank: u32,
    pub(super) step: i64,
    pub(super) name: Arc<str>,
    pub(super) op: Arc<str>,
    pub(super) role: Role,
    pub(super) shown: Arc<str>,
    pub(super) len_bytes: u64,
    pub(super) content: Content,
    /// Its location at the previous step, if it is compared with that.
    pub(super) before: Option<Place>,
    /// The same tensor at the next step of the window, which is compared with this one.
    pub(super) next: Option<usize>,
    /// True if it is read after another one, as its `next`.
    pub(super) is_next: bool,
    pub(super) needs: Needs,
}

/// Boxed: they are moved from thread to thread.
pub(super) type Summary = Result<Box<TensorSummary>, TensorReadError>;

/// Summaries of all items. A tensor and its following steps are read by one thread.
pub(super) fn summaries(items: &[Item], readers: &mut [Reader]) -> Vec<Summary> {
    let is_read = |item: &Item| !matches!(item.content, Content::Known(_));
    let firsts = (0..items.len()).filter(|&at| !items[at].is_next && is_read(&items[at]));
    let firsts: Vec<usize> = firsts.collect();
    let next = AtomicUsize::new(0);
    let work = |reader: &mut Reader| {
        let mut mine = Vec::new();
        while let taken = next.fetch_add(1, Ordering::Relaxed)
            && let Some(&first) = firsts.get(taken)
        {
            let mut at = Some(first);
            while let Some((number, item)) = at.and_then(|at| Some((at, items.get(at)?))) {
                mine.extend(item.read(reader).map(|summary| (number, summary)));
                at = item.next;
            }
        }
        mine
    };
    let mut done: Vec<Option<Summary>> = Vec::new();
    done.resize_with(items.len(), || None);
    let mut put = |mine: Vec<(usize, Summary)>| {
        for (at, summary) in mine {
            done[at] = Some(summary);
        }
    };
    if let [reader] = readers {
        put(work(reader));
    } else {
        std::thread::scope(|scope| {
            let threads = readers
                .iter_mut()
                .map(|reader| scope.spawn(|| work(reader)));
            for thread in threads.collect::<Vec<_>>() {
                put(thread.join().unwrap_or_default());
            }
        });
    }
    let lost = || TensorReadError::Damaged {
        offset: 0,
        reason: "it could not be read".to_owned(),
    };
    let all = done.into_iter();
    all.map(|summary| summary.unwrap_or_else(|| Err(lost())))
        .collect()
}

impl Item {
    /// The summary of its elements; `None` if only the summary was recorded.
    fn read(&self, reader: &mut Reader) -> Option<Summary> {
        let place = match &self.content {
            Content::Known(_) => return None,
            Content::Opaque(opaque) => return Some(Err(TensorReadError::Opaque(opaque.clone()))),
            Content::At(place) => place,
        };
        let before = match &self.before {
            Some(before) if self.is_next => Before::Last(before),
            Some(before) => Before::At(before),
            None => Before::Nothing,
        };
        let summary = reader.summary(place, before, &self.needs, self.next.is_some());
        Some(summary.map(Box::new))
    }
}
