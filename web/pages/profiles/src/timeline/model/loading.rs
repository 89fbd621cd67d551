//! Requests for cells: one at a time, of the rows in view first, then of those a view above and below it.

use std::time::Duration;

use leptos::task::spawn_local_scoped_with_cancellation;
use trainscope_api::profile::ProfileState;
use trainscope_api::timeline::{TimelineLanes, TimelineQuery};

use super::{Model, Source};
use crate::timeline::cache::{Cache, Request, RowKey, rows_text};
use crate::timeline::view::View;
use trainscope_web_kit::client;
use trainscope_web_kit::prelude::*;

/// Time after which a request that failed is sent again.
const AGAIN: Duration = Duration::from_secs(2);

/// State of the requests.
#[derive(Clone, Debug, Default)]
struct Loader {
    is_asking: bool,
    /// The last request: one that brought nothing new is not repeated.
    last: Option<Request>,
}

/// Facts of a session on which its cells depend.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    events: u64,
    /// Length, nanoseconds.
    extent: i64,
    /// Begin on the clock of the file.
    origin: String,
    state: ProfileState,
}

impl Facts {
    fn new(frame: &TimelineLanes) -> Self {
        Self {
            events: frame.events,
            extent: frame.extent_nanos,
            origin: frame.origin_nanos.clone(),
            state: frame.state,
        }
    }
}

/// The first or the second session, for its requests. `Copy`.
#[derive(Clone, Copy)]
struct Session {
    is_other: bool,
    source: Signal<Option<Source>>,
    facts: Signal<Facts>,
    cache: StoredValue<Cache>,
    loader: StoredValue<Loader>,
    /// Owner of the page: a request goes on when the view moves, and is aborted when the page is left.
    page: StoredValue<Option<Owner>>,
}

impl Model {
    /// Sends requests whenever cells of a session are missing in the view.
    pub(super) fn keep_loading(self) {
        let (own, other) = (self.source, self.other);
        self.keep(Session {
            is_other: false,
            source: Signal::derive(move || Some(own.get())),
            facts: Signal::derive(move || self.frame.with(|frame| Facts::new(frame))),
            cache: self.cache,
            loader: StoredValue::new(Loader::default()),
            page: StoredValue::new(Owner::current()),
        });
        self.keep(Session {
            is_other: true,
            source: Signal::derive(move || other.source.get()),
            facts: Signal::derive(move || other.frame.with(|frame| Facts::new(frame))),
            cache: other.cache,
            loader: StoredValue::new(Loader::default()),
            page: StoredValue::new(Owner::current()),
        });
    }

    fn keep(self, session: Session) {
        // Cells of another session, or with other begins, are of no use; those of fewer events are better than none.
        Effect::new(move |before: Option<(Option<Source>, Facts)>| {
            let now = (session.source.get(), session.facts.get());
            if let Some(before) = before.filter(|before| *before != now) {
                if before.0 == now.0 && before.1.origin == now.1.origin {
                    session.cache.update_value(Cache::outdate);
                } else {
                    session.cache.set_value(Cache::default());
                }
                session.loader.update_value(|loader| loader.last = None);
                self.version.update(|version| *version += 1);
            }
            now
        });
        Effect::new(move || {
            self.view.track();
            self.scroll.track();
            self.size.track();
            self.layout.track();
            self.version.track();
            self.other.shift.track();
            self.load(session);
        });
    }

    fn load(self, session: Session) {
        let (width, height, _) = self.size.get_untracked();
        let facts = session.facts.get_untracked();
        let extent = facts.extent;
        let loader = session.loader;
        if width < 1.0 || extent <= 0 || loader.with_value(|loader| loader.is_asking) {
            return;
        }
        let Some(source) = session.source.get_untracked() else {
            return;
        };
        let (view, scroll) = (self.view.get_untracked(), self.scroll.get_untracked());
        let shift = if session.is_other {
            untrack(|| self.shift())
        } else {
            0.0
        };
        let view = View {
            from: view.from - shift,
            to: view.to - shift,
        };
        let rows: Vec<RowKey> = self.layout.with_untracked(|layout| {
            let seen = layout.rows(scroll, height);
            let near = layout.rows(scroll - height, 3.0 * height);
            let all = seen.into_iter().chain(near);
            let own = all.filter(|row| row.is_other == session.is_other);
            own.map(|row| (row.lane, row.depth)).collect()
        });
        let rows = without_repeats(rows);
        let cache = session.cache;
        let next = cache.with_value(|cache| cache.request(view, width, extent, rows));
        let Some(request) = next else { return };
        if loader.with_value(|loader| loader.last.as_ref() == Some(&request)) {
            return;
        }
        loader.update_value(|loader| {
            loader.is_asking = true;
            loader.last = Some(request.clone());
        });
        let ask = async move {
            let query = TimelineQuery {
                run: source.run.clone(),
                session: source.session.clone(),
                rank: source.rank,
                from: Some(request.from),
                to: Some(request.to),
                width: Some(request.width),
                rows: Some(rows_text(&request.rows)),
            };
            let answer = client::timeline(&query).await;
            loader.update_value(|loader| loader.is_asking = false);
            let is_current = session.source.try_get_untracked() == Some(Some(source))
                && session.facts.try_get_untracked() == Some(facts);
            match answer {
                Ok(answer) if is_current => cache.update_value(|cache| cache.insert(answer)),
                Ok(_) => {}
                Err(_) => {
                    set_timeout(
                        move || {
                            loader.try_update_value(|loader| loader.last = None);
                            self.version.try_update(|version| *version += 1);
                        },
                        AGAIN,
                    );
                    return;
                }
            }
            self.version.update(|version| *version += 1);
        };
        if let Some(page) = session.page.get_value() {
            page.with(|| spawn_local_scoped_with_cancellation(ask));
        }
    }
}

/// Each row once, at its first place.
fn without_repeats(rows: Vec<RowKey>) -> Vec<RowKey> {
    let mut known = std::collections::HashSet::new();
    rows.into_iter().filter(|row| known.insert(*row)).collect()
}

#[cfg(test)]
mod tests {
    use super::without_repeats;

    #[test]
    fn rows_are_asked_for_once() {
        let rows = vec![(2, 0), (1, 0), (2, 0), (2, 1), (1, 0)];
        assert_eq!(without_repeats(rows), [(2, 0), (1, 0), (2, 1)]);
    }
}
