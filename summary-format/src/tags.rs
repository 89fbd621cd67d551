//! The tags of one file, mapped to small numbers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::kind::Kind;
use crate::record::{TagId, TagInfo};

/// Numbers (tag, kind) pairs in the order of their first use.
#[derive(Debug, Default)]
pub(crate) struct TagTable {
    tags: Vec<Entry>,
    /// The newest tag of each name.
    newest: HashMap<Arc<str>, TagId, foldhash::fast::RandomState>,
    /// The tag of the last record.
    last: usize,
}

#[derive(Debug)]
struct Entry {
    id: TagId,
    info: TagInfo,
    /// The previous tag of the same name and another kind.
    older: Option<TagId>,
    /// `true` if no later tag has the same name.
    is_newest: bool,
    /// The tag that followed this one the last time. Programs write their tags in the same order at every step, so one
    /// comparison of names usually saves the hash.
    follower: usize,
}

impl TagTable {
    /// Restores the table of a checkpoint.
    pub(crate) fn restore(tags: Vec<TagInfo>) -> Self {
        let mut table = Self::default();
        for tag in tags {
            table.insert(tag);
        }
        table
    }

    /// All tags in order of their ids.
    pub(crate) fn to_vec(&self) -> Vec<TagInfo> {
        self.tags.iter().map(|entry| entry.info.clone()).collect()
    }

    /// Id of a tag; a new one is appended to `new_tags`.
    #[inline]
    pub(crate) fn id(&mut self, name: &[u8], kind: Kind, new_tags: &mut Vec<TagInfo>) -> TagId {
        if let Some(entry) = self.expected()
            && entry.info.kind == kind
            && entry.info.name.as_bytes() == name
        {
            let id = entry.id;
            self.last = id.0 as usize;
            return id;
        }
        self.look_up(name, kind, new_tags)
    }

    /// The tag that followed the last one the last time.
    #[inline]
    fn expected(&self) -> Option<&Entry> {
        self.tags.get(self.tags.get(self.last)?.follower)
    }

    fn look_up(&mut self, name: &[u8], kind: Kind, new_tags: &mut Vec<TagInfo>) -> TagId {
        let name = String::from_utf8_lossy(name);
        let mut known = self.newest.get(name.as_ref()).copied();
        while let Some(entry) = known.and_then(|id| self.tags.get(id.0 as usize)) {
            if entry.info.kind == kind {
                break;
            }
            known = entry.older;
        }
        let id = known.unwrap_or_else(|| {
            let info = TagInfo {
                name: name.into(),
                kind,
            };
            new_tags.push(info.clone());
            self.insert(info)
        });
        let index = id.0 as usize;
        if let Some(last) = self.tags.get_mut(self.last) {
            last.follower = index;
        }
        self.last = index;
        id
    }

    fn insert(&mut self, info: TagInfo) -> TagId {
        let index = self.tags.len();
        let id = id_of(index);
        let older = self.newest.insert(info.name.clone(), id);
        if let Some(entry) = older.and_then(|id| self.tags.get_mut(id.0 as usize)) {
            entry.is_newest = false;
        }
        self.tags.push(Entry {
            id,
            info,
            older,
            is_newest: true,
            follower: index,
        });
        id
    }

    /// The kind of the newest tag of this name: the kind of values that do not declare one. Kinds that are always
    /// declared do not count.
    pub(crate) fn newest_kind(&self, name: &[u8]) -> Option<Kind> {
        if let Some(entry) = self.expected()
            && entry.info.name.as_bytes() == name
            && entry.is_newest
            && !says_itself(entry.info.kind)
        {
            return Some(entry.info.kind);
        }
        let name: Cow<'_, str> = String::from_utf8_lossy(name);
        let newest = self.newest.get(name.as_ref()).copied();
        let entry = |id: TagId| self.tags.get(id.0 as usize);
        std::iter::successors(newest.and_then(entry), |tag| tag.older.and_then(entry))
            .map(|tag| tag.info.kind)
            .find(|kind| !says_itself(*kind))
    }
}

/// `true` if every value of this kind is a native message, which declares its kind.
const fn says_itself(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Statistics | Kind::Profile | Kind::Dumps | Kind::Hits | Kind::Losses | Kind::Program
    )
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "2^32 tags do not fit into memory"
)]
fn id_of(index: usize) -> TagId {
    TagId(index as u32)
}
