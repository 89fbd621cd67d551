//! Tensors of some steps, read on all threads before they are evaluated in order.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use trainscope_analysis::watchpoint::Needs;
use trainscope_format::Role;

use crate::discovery::stamp::Stamp;
use crate::summaries::Summary;
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
    /// Size and time of its file at the walk.
    pub(super) stamp: Stamp,
    pub(super) content: Content,
    /// Its location at the previous step, with the stamp of that file, if it is compared with that.
    pub(super) before: Option<(Place, Stamp)>,
    /// The same tensor at the next step of the window, which is compared with this one.
    pub(super) next: Option<usize>,
    /// True if it is read after another one, as its `next`.
    pub(super) is_next: bool,
    pub(super) needs: Needs,
    /// True if only later tensors are computed, with it as their previous step.
    pub(super) is_context: bool,
}

/// Summaries of all items, but for those without elements and those of context; `done` has the known ones. A tensor and
/// its following steps are read by one thread.
pub(super) fn summaries(
    items: &[Item],
    readers: &mut [Reader],
    mut done: Vec<Option<Summary>>,
) -> Vec<Option<Summary>> {
    done.resize_with(items.len(), || None);
    let is_due = |at: usize| {
        let item: &Item = &items[at];
        done[at].is_none() && !item.is_context && !matches!(item.content, Content::Known(_))
    };
    let due: Vec<bool> = (0..items.len()).map(is_due).collect();
    let is_due = |at: usize| due.get(at).is_some_and(|due| *due);
    let firsts = (0..items.len()).filter(|&at| !items[at].is_next);
    let firsts: Vec<usize> = firsts.collect();
    let next = AtomicUsize::new(0);
    let work = |reader: &mut Reader| {
        let mut mine = Vec::new();
        while let taken = next.fetch_add(1, Ordering::Relaxed)
            && let Some(&first) = firsts.get(taken)
        {
            let mut at = Some(first);
            let mut was_read = false;
            while let Some((number, item)) = at.and_then(|at| Some((at, items.get(at)?))) {
                at = item.next;
                if is_due(number) {
                    let keeps = at.is_some_and(is_due);
                    let summary = item.read(reader, was_read, keeps);
                    mine.extend(summary.map(|summary| (number, summary)));
                }
                was_read = is_due(number);
            }
        }
        mine
    };
    let mut read = Vec::new();
    if let [reader] = readers {
        read.push(work(reader));
    } else {
        std::thread::scope(|scope| {
            let threads = readers
                .iter_mut()
                .map(|reader| scope.spawn(|| work(reader)));
            for thread in threads.collect::<Vec<_>>() {
                read.push(thread.join().unwrap_or_default());
            }
        });
    }
    for (at, summary) in read.into_iter().flatten() {
        done[at] = Some(summary);
    }
    for (at, summary) in done.iter_mut().enumerate() {
        if is_due(at) && summary.is_none() {
            let reason = "it could not be read".to_owned();
            *summary = Some(Err(TensorReadError::Unreadable { reason }));
        }
    }
    done
}

impl Item {
    /// The files that its summary depends on, with their stamps.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Path, Stamp)> {
        let now = match &self.content {
            Content::At(place) => Some((&*place.path, self.stamp)),
            Content::Known(_) | Content::Opaque(_) => None,
        };
        let before = self.before.as_ref();
        let before = before.map(|(place, stamp)| (&*place.path, *stamp));
        now.into_iter().chain(before)
    }

    /// The summary of its elements; `None` if only the summary was recorded. `follows` if the reader read its previous
    /// step just now; `keeps` if it reads the next one after it.
    fn read(&self, reader: &mut Reader, follows: bool, keeps: bool) -> Option<Summary> {
        let place = match &self.content {
            Content::Known(_) => return None,
            Content::Opaque(opaque) => return Some(Err(TensorReadError::Opaque(opaque.clone()))),
            Content::At(place) => place,
        };
        let before = match &self.before {
            Some((before, _)) if follows => Before::Last(before),
            Some((before, _)) => Before::At(before),
            None => Before::Nothing,
        };
        let summary = reader.summary(place, before, &self.needs, keeps);
        Some(summary.map(Box::new))
    }
}
