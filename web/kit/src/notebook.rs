//! Notes about runs, shared by all pages: read from the server, applied at once when changed here, rolled back on a
//! conflict.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::error::ErrorCode;
use trainscope_api::notebook::{Notebook, NotebookChange, RunNotes, View};

use crate::client::{self, ClientError};
use crate::live::Live;
use crate::prelude::*;

/// Minimum time between two requests for it.
const PAUSE: Duration = Duration::from_secs(4);

/// Reason for which the last change was rolled back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A concurrent change of the same note won; it is displayed now.
    Conflict,
    /// The server's reason.
    Refused(String),
    /// The server could not be reached.
    Unreachable,
}

/// The shared notebook. `Copy`: take it with [`use_notebook`].
#[derive(Clone, Copy)]
pub struct Notes {
    book: RwSignal<Arc<Notebook>>,
    /// Reason for which the last change was rolled back; `None` after a successful one.
    pub refusal: RwSignal<Option<Refusal>>,
    changes: StoredValue<ChangeQueue>,
}

/// Changes of this page, sent one after the other.
#[derive(Default)]
struct ChangeQueue {
    waiting: VecDeque<QueuedChange>,
    is_sending: bool,
    /// True once the notebook was read.
    is_read: bool,
}

struct QueuedChange {
    change: NotebookChange,
    /// The notebook on this page before the change.
    before: Arc<Notebook>,
    /// True if the notebook was read before the change was made.
    is_read: bool,
}

impl ChangeQueue {
    /// Adds a change; returns true if nothing is being sent.
    fn push(&mut self, change: NotebookChange, before: Arc<Notebook>) -> bool {
        let is_read = self.is_read;
        self.waiting.push_back(QueuedChange {
            change,
            before,
            is_read,
        });
        !std::mem::replace(&mut self.is_sending, true)
    }

    /// The next change; `None` if the queue is empty, and then nothing is being sent.
    fn next(&mut self) -> Option<QueuedChange> {
        let next = self.waiting.pop_front();
        self.is_sending = next.is_some();
        next
    }
}

/// The shared notebook.
pub fn use_notebook() -> Notes {
    expect_context()
}

impl Notes {
    /// Creates the notebook and reads it, and reads it again when the server reports a change.
    pub fn provide(live: Live) -> Self {
        let notes = Self {
            book: RwSignal::new(Arc::new(Notebook::default())),
            refusal: RwSignal::new(None),
            changes: StoredValue::default(),
        };
        provide_context(notes);
        let asked = StoredValue::new((false, false));
        Effect::new(move || {
            live.list_version.track();
            notes.refresh(asked);
        });
        notes
    }

    /// Reads the notebook, at most once per [`PAUSE`]: notices are frequent while trainings write, but seldom about
    /// notes. `asked` has two flags: it was read within the pause; it has to be read again.
    fn refresh(self, asked: StoredValue<(bool, bool)>) {
        if asked.get_value().0 {
            asked.set_value((true, true));
            return;
        }
        asked.set_value((true, false));
        spawn_local(async move {
            if let Ok(book) = client::notebook().await {
                self.changes.update_value(|changes| changes.is_read = true);
                self.show(book);
            }
        });
        set_timeout(
            move || {
                let is_due = asked.get_value().1;
                asked.set_value((false, false));
                if is_due {
                    self.refresh(asked);
                }
            },
            PAUSE,
        );
    }

    /// Notes about a run; reactive.
    pub fn notes(self, run: &str) -> RunNotes {
        self.with(|book| book.runs.get(run).cloned().unwrap_or_default())
    }

    /// Applies `look` to the notebook without a copy; reactive.
    pub fn with<T>(self, look: impl FnOnce(&Notebook) -> T) -> T {
        self.book.with(|book| look(book))
    }

    /// Tags of pinned cards, in order; reactive.
    pub fn pinned(self) -> Vec<String> {
        self.with(|book| book.pinned.clone())
    }

    /// Replaces the notes about a run.
    pub fn set_notes(self, run: &str, notes: RunNotes) {
        self.set_many(BTreeMap::from([(run.to_owned(), notes)]));
    }

    /// Replaces the notes about several runs.
    pub fn set_many(self, runs: BTreeMap<String, RunNotes>) {
        self.change(NotebookChange {
            runs,
            ..NotebookChange::default()
        });
    }

    /// Pins these cards and no others.
    pub fn set_pinned(self, pinned: Vec<String>) {
        self.change(NotebookChange {
            pinned: Some(pinned),
            ..NotebookChange::default()
        });
    }

    /// Gives the list of runs these columns and no others.
    pub fn set_columns(self, columns: Vec<String>) {
        self.change(NotebookChange {
            columns: Some(columns),
            ..NotebookChange::default()
        });
    }

    /// Moves all notes of a run to another one, or deletes them.
    pub fn move_notes(self, run: &str, to: Option<&str>) {
        let notes = untrack(|| self.notes(run));
        let to = to.map(|to| (to.to_owned(), notes));
        let change = std::iter::once((run.to_owned(), RunNotes::default())).chain(to);
        self.set_many(change.collect());
    }

    /// Merges a column of the table of runs into another one; `None` separates it again.
    pub fn set_alias(self, key: &str, into: Option<&str>) {
        let mut aliases = untrack(|| self.with(|book| book.aliases.clone()));
        match into {
            Some(into) => aliases.insert(key.to_owned(), into.to_owned()),
            None => aliases.remove(key),
        };
        self.change(NotebookChange {
            aliases: Some(aliases),
            ..NotebookChange::default()
        });
    }

    /// Keeps these views of pages and no others.
    pub fn set_views(self, views: Vec<View>) {
        self.change(NotebookChange {
            views: Some(views),
            ..NotebookChange::default()
        });
    }

    /// Applies a change at once, and sends it after the waiting ones.
    fn change(self, change: NotebookChange) {
        let before = self.book.get_untracked();
        let mut after = Notebook::clone(&before);
        after.runs.extend(change.runs.clone());
        if let Some(pinned) = &change.pinned {
            after.pinned.clone_from(pinned);
        }
        if change.columns.is_some() {
            after.columns.clone_from(&change.columns);
        }
        after
            .without_run
            .retain(|stray| change.runs.get(&stray.run) != Some(&RunNotes::default()));
        if let Some(aliases) = &change.aliases {
            after.aliases.clone_from(aliases);
        }
        if let Some(views) = &change.views {
            after.views.clone_from(views);
        }
        self.book.set(Arc::new(after));
        let push = |changes: &mut ChangeQueue| changes.push(change, before);
        if self.changes.try_update_value(push) == Some(true) {
            spawn_local(self.send_all());
        }
    }

    async fn send_all(self) {
        // The answer to the previous change: the next one was made on this page meanwhile, from an older version.
        let mut answer: Option<Notebook> = None;
        let next = || self.changes.try_update_value(ChangeQueue::next).flatten();
        while let Some(queued) = next() {
            let refusal = match send(&queued, answer.take()).await {
                Ok(book) => {
                    // A waiting change is applied already, and not part of the answer.
                    if self
                        .changes
                        .with_value(|changes| changes.waiting.is_empty())
                    {
                        self.show(book.clone());
                    }
                    answer = Some(book);
                    None
                }
                Err((refusal, newest)) => {
                    self.book.set(Arc::new(newest));
                    Some(refusal)
                }
            };
            if self.refusal.get_untracked() != refusal {
                self.refusal.set(refusal);
            }
        }
    }

    /// Answers may overtake each other: an older one is not shown.
    fn show(self, book: Notebook) {
        let is_news = self
            .book
            .with_untracked(|known| book.version >= known.version && book != **known);
        if is_news {
            self.book.set(Arc::new(book));
        }
    }
}

/// Makes a change on the server. If `newest`, or the notebook of the server, differs from the base of the change in
/// other subjects only, the change is made on top of it; otherwise it is a conflict.
async fn send(
    queued: &QueuedChange,
    mut newest: Option<Notebook>,
) -> Result<Notebook, (Refusal, Notebook)> {
    let before = &*queued.before;
    let mut change = queued.change.clone();
    change.version = before.version;
    let mut must_read = !queued.is_read && newest.is_none();
    // Each retry follows a concurrent change of another note; five in a row are improbable.
    for _ in 0..5 {
        if must_read {
            match client::notebook().await {
                Ok(book) => newest = Some(book),
                Err(error) => return Err((refusal(error), before.clone())),
            }
        }
        if let Some(newest) = newest.take_if(|book| book.version != before.version) {
            if touches(&change, before, &newest) {
                return Err((Refusal::Conflict, newest));
            }
            change.version = newest.version;
        }
        match client::change_notebook(&change).await {
            Ok(book) => return Ok(book),
            Err(ClientError::Refused(error)) if error.code == ErrorCode::Conflict => {
                must_read = true;
            }
            Err(error) => return Err((refusal(error), before.clone())),
        }
    }
    Err((Refusal::Conflict, before.clone()))
}

/// `true` if the subject of a change differs between two notebooks.
fn touches(change: &NotebookChange, before: &Notebook, newest: &Notebook) -> bool {
    let differs = |run: &String| before.runs.get(run) != newest.runs.get(run);
    change.runs.keys().any(differs)
        || (change.pinned.is_some() && before.pinned != newest.pinned)
        || (change.columns.is_some() && before.columns != newest.columns)
        || (change.views.is_some() && before.views != newest.views)
}

fn refusal(error: ClientError) -> Refusal {
    match error {
        ClientError::Refused(error) => Refusal::Refused(error.message),
        ClientError::Unreachable | ClientError::Misunderstood => Refusal::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_sent_one_after_the_other() {
        let mut changes = ChangeQueue::default();
        let push = |changes: &mut ChangeQueue| {
            changes.push(NotebookChange::default(), Arc::new(Notebook::default()))
        };
        assert!(push(&mut changes), "the first begins to send");
        changes.is_read = true;
        assert!(!push(&mut changes), "the second waits");
        assert_eq!(changes.next().map(|queued| queued.is_read), Some(false));
        assert_eq!(changes.next().map(|queued| queued.is_read), Some(true));
        assert!(changes.is_sending && changes.next().is_none());
        assert!(
            push(&mut changes),
            "after the last one sending starts again"
        );
    }

    #[test]
    fn changes_of_different_things_go_together() {
        let notes = |note: &str| RunNotes {
            note: note.to_owned(),
            ..RunNotes::default()
        };
        let book = |a: &str, b: &str, pinned: &[&str]| Notebook {
            runs: BTreeMap::from([("a".to_owned(), notes(a)), ("b".to_owned(), notes(b))]),
            pinned: pinned.iter().map(|&tag| tag.to_owned()).collect(),
            ..Notebook::default()
        };
        let change = NotebookChange {
            runs: BTreeMap::from([("a".to_owned(), notes("mine"))]),
            ..NotebookChange::default()
        };
        let before = book("1", "2", &[]);
        assert!(!touches(&change, &before, &book("1", "theirs", &["loss"])));
        assert!(touches(&change, &before, &book("theirs", "2", &[])));
        let pins = NotebookChange {
            pinned: Some(vec![]),
            ..NotebookChange::default()
        };
        assert!(touches(&pins, &before, &book("1", "2", &["loss"])));
        assert!(!touches(&pins, &before, &book("theirs", "2", &[])));
    }
}
