//! Requests for cells: one at a time per session, of the visible rows first, then of those up to a view away.

use std::time::Duration;

use leptos::task::spawn_local_scoped_with_cancellation;
use trainscope_api::profile::ProfileState;
use trainscope_api::timeline::{TimelineLanes, TimelineQuery};

use super::{Model, Source};
use crate::timeline::cache::{Cache, Request, RowKey, rows_text};
use crate::timeline::view::View;
use trainscope_web_kit::client;
use trainscope_web_kit::prelude::*;

/// Time after which a failed request is sent again.
const AGAIN: Duration = Duration::from_secs(2);

/// State of the requests of a session.
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
    /// Length, ns.
    extent: i64,
    /// Start on the clock of the file.
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

/// A session, for its requests.
#[derive(Clone, Debug, PartialEq)]
struct Session {
    /// 0 for the first one, then those below it.
    number: usize,
    source: Source,
    facts: Facts,
}

/// All sessions and the state of their requests.
#[derive(Clone, Copy)]
struct Loaders {
    sessions: Memo<Vec<Session>>,
    all: StoredValue<Vec<Loader>>,
    /// Owner of the page: a request continues when the view moves, and is aborted when the page is left.
    page: StoredValue<Option<Owner>>,
}

impl Model {
    /// Sends requests whenever cells of a session are missing in the view.
    pub(super) fn keep_loading(self) {
        let others = self.others;
        let sessions = Memo::new(move |_| {
            let first = (
                self.source.get(),
                self.frame.with(|frame| Facts::new(frame)),
            );
            let below = others.frames.with(|frames| {
                let facts = frames.iter().map(|frame| Facts::new(frame));
                others
                    .sources
                    .get()
                    .into_iter()
                    .zip(facts)
                    .collect::<Vec<_>>()
            });
            let all = std::iter::once(first).chain(below).enumerate();
            let session = |(number, (source, facts))| Session {
                number,
                source,
                facts,
            };
            all.map(session).collect::<Vec<Session>>()
        });
        let loaders = Loaders {
            sessions,
            all: StoredValue::new(Vec::new()),
            page: StoredValue::new(Owner::current()),
        };
        // Cells of another session or origin are dropped; cells of fewer events stay until new ones arrive.
        Effect::new(move |before: Option<Vec<Session>>| {
            let now = sessions.get();
            let before = before.unwrap_or_default();
            let below = now.len().saturating_sub(1);
            others
                .caches
                .update_value(|all| all.resize_with(below, Cache::default));
            loaders
                .all
                .update_value(|all| all.resize_with(now.len(), Loader::default));
            let mut is_changed = false;
            for session in &now {
                let old = before.get(session.number).filter(|old| *old != session);
                let Some(old) = old else { continue };
                let is_same =
                    old.source == session.source && old.facts.origin == session.facts.origin;
                self.update_cache(session.number, |cache| {
                    if is_same {
                        cache.outdate();
                    } else {
                        *cache = Cache::default();
                    }
                });
                loaders.update(session.number, |loader| loader.last = None);
                is_changed = true;
            }
            if is_changed || before.len() != now.len() {
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
            others.shifts.track();
            for session in sessions.get() {
                self.load(loaders, session);
            }
        });
    }

    /// Changes the cells of a session by its number.
    fn update_cache(self, number: usize, change: impl FnOnce(&mut Cache)) {
        match number.checked_sub(1) {
            None => self.cache.update_value(change),
            Some(at) => self.others.caches.update_value(|all| {
                if let Some(cache) = all.get_mut(at) {
                    change(cache);
                }
            }),
        }
    }

    /// The request for the cells that a session lacks in a view.
    fn missing(
        self,
        number: usize,
        look: impl FnOnce(&Cache) -> Option<Request>,
    ) -> Option<Request> {
        match number.checked_sub(1) {
            None => self.cache.with_value(look),
            Some(at) => self.others.caches.with_value(|all| look(all.get(at)?)),
        }
    }

    fn load(self, loaders: Loaders, session: Session) {
        let (width, height, _) = self.size.get_untracked();
        let (number, extent) = (session.number, session.facts.extent);
        if width < 1.0 || extent <= 0 || loaders.with(number, |loader| loader.is_asking) {
            return;
        }
        let (view, scroll) = (self.view.get_untracked(), self.scroll.get_untracked());
        let begin = number.checked_sub(1);
        let begin = begin.and_then(|at| untrack(|| self.shifts()).get(at).copied());
        let begin = begin.unwrap_or_default();
        let view = View {
            from: view.from - begin,
            to: view.to - begin,
        };
        let rows: Vec<RowKey> = self.layout.with_untracked(|layout| {
            let seen = layout.rows(scroll, height);
            let near = layout.rows(scroll - height, 3.0 * height);
            let all = seen.into_iter().chain(near);
            let rows = all.filter(|row| row.session == number);
            rows.map(|row| (row.lane, row.depth)).collect()
        });
        let rows = without_repeats(rows);
        let next = self.missing(number, |cache| cache.request(view, width, extent, rows));
        let Some(request) = next else { return };
        if loaders.with(number, |loader| loader.last.as_ref() == Some(&request)) {
            return;
        }
        loaders.update(number, |loader| {
            loader.is_asking = true;
            loader.last = Some(request.clone());
        });
        let ask = async move {
            let source = &session.source;
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
            loaders.update(number, |loader| loader.is_asking = false);
            let now = loaders.sessions.try_get_untracked();
            let is_current = now.is_some_and(|now| now.get(number) == Some(&session));
            match answer {
                Ok(answer) if is_current => self.update_cache(number, |cache| cache.insert(answer)),
                Ok(_) => {}
                Err(_) => {
                    set_timeout(
                        move || {
                            loaders.update(number, |loader| loader.last = None);
                            self.version.try_update(|version| *version += 1);
                        },
                        AGAIN,
                    );
                    return;
                }
            }
            self.version.update(|version| *version += 1);
        };
        if let Some(page) = loaders.page.get_value() {
            page.with(|| spawn_local_scoped_with_cancellation(ask));
        }
    }
}

impl Loaders {
    fn with(self, number: usize, look: impl FnOnce(&Loader) -> bool) -> bool {
        self.all.with_value(|all| all.get(number).is_some_and(look))
    }

    /// Changes the state of a session; nothing if the page was left.
    fn update(self, number: usize, change: impl FnOnce(&mut Loader)) {
        self.all.try_update_value(|all| {
            if let Some(loader) = all.get_mut(number) {
                change(loader);
            }
        });
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
