//! Notes about runs, shared by all pages: read from the server, applied at once when changed here, rolled back on a
//! conflict.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::error::ErrorCode;
use trainscope_api::notebook::{Notebook, NotebookChange, RunNotes};

use crate::client::{self, ClientError};
use crate::live::Live;
use crate::prelude::*;

/// Time between two requests for it.
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
}

/// The shared notebook.
pub fn use_notebook() -> Notes {
    expect_context()
}

impl Notes {
    /// Makes the notebook and reads it, and again when the server says that something has changed.
    pub fn provide(live: Live) -> Self {
        let notes = Self {
            book: RwSignal::new(Arc::new(Notebook::default())),
            refusal: RwSignal::new(None),
        };
        provide_context(notes);
        let asked = StoredValue::new((false, false));
        Effect::new(move || {
            live.list_version.track();
            notes.refresh(asked);
        });
        notes
    }

    /// While trainings write, something changes all the time, and seldom what people have noted: at most one request in a
    /// while. Kept is whether there was one a moment ago, and whether another one is due.
    fn refresh(self, asked: StoredValue<(bool, bool)>) {
        if asked.get_value().0 {
            asked.set_value((true, true));
            return;
        }
        asked.set_value((true, false));
        spawn_local(async move {
            if let Ok(book) = client::notebook().await {
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

    /// Notes something about a run in place of what was noted.
    pub fn set_notes(self, run: &str, notes: RunNotes) {
        self.set_many(BTreeMap::from([(run.to_owned(), notes)]));
    }

    /// Notes something about several runs.
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

    /// Shows what a change leads to, and makes it.
    fn change(self, mut change: NotebookChange) {
        let before = self.book.get_untracked();
        let mut after = Notebook::clone(&before);
        after.runs.extend(change.runs.clone());
        if let Some(pinned) = &change.pinned {
            after.pinned.clone_from(pinned);
        }
        if change.columns.is_some() {
            after.columns.clone_from(&change.columns);
        }
        self.book.set(Arc::new(after));
        change.version = before.version;
        spawn_local(async move {
            let refusal = match send(change, &before).await {
                Ok(book) => {
                    self.show(book);
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
        });
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

/// Makes a change on the server. If the notebook has moved on, but not where this change is, the change is made from
/// the newest one; otherwise that one is shown.
async fn send(
    mut change: NotebookChange,
    before: &Notebook,
) -> Result<Notebook, (Refusal, Notebook)> {
    // Each retry follows a concurrent change of another note; five in a row are improbable.
    for _ in 0..5 {
        let error = match client::change_notebook(&change).await {
            Ok(book) => return Ok(book),
            Err(error) => error,
        };
        let is_conflict =
            matches!(&error, ClientError::Refused(error) if error.code == ErrorCode::Conflict);
        let newest = match client::notebook().await {
            Ok(newest) if is_conflict => newest,
            _ => return Err((refusal(error), before.clone())),
        };
        if touches(&change, before, &newest) {
            return Err((Refusal::Conflict, newest));
        }
        change.version = newest.version;
    }
    Err((Refusal::Conflict, before.clone()))
}

/// `true` if the subject of a change differs between two notebooks.
fn touches(change: &NotebookChange, before: &Notebook, newest: &Notebook) -> bool {
    let differs = |run: &String| before.runs.get(run) != newest.runs.get(run);
    change.runs.keys().any(differs)
        || (change.pinned.is_some() && before.pinned != newest.pinned)
        || (change.columns.is_some() && before.columns != newest.columns)
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
