//! Requests for cells: one at a time, of the rows in view first, then of those a view above and below it.

use std::time::Duration;

use leptos::task::spawn_local_scoped_with_cancellation;
use trainscope_api::timeline::TimelineQuery;

use super::{Model, Source};
use crate::client;
use crate::pages::timeline::cache::{Cache, Request, RowKey, rows_text};
use crate::pages::timeline::view::nanos;
use crate::prelude::*;

/// Time after which a request that failed is sent again.
const AGAIN: Duration = Duration::from_secs(2);

/// State of the requests.
#[derive(Clone, Debug, Default)]
struct Loader {
    is_asking: bool,
    /// The last request: one that brought nothing new is not repeated.
    last: Option<Request>,
}

impl Model {
    /// Sends requests whenever cells are missing in the view.
    pub(super) fn keep_loading(self) {
        let loader = StoredValue::new(Loader::default());
        // Cells of another session, or of fewer events, are of no use.
        Effect::new(move |before: Option<(Source, u64)>| {
            let now = (self.source.get(), self.frame.with(|frame| frame.events));
            if before.is_some_and(|before| before != now) {
                self.cache.set_value(Cache::default());
                loader.update_value(|loader| loader.last = None);
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
            self.load(loader);
        });
    }

    fn load(self, loader: StoredValue<Loader>) {
        let (width, height, _) = self.size.get_untracked();
        let extent = self.extent.get_untracked();
        if width < 1.0 || extent <= 0.0 || loader.with_value(|loader| loader.is_asking) {
            return;
        }
        let (view, scroll) = (self.view.get_untracked(), self.scroll.get_untracked());
        let rows: Vec<RowKey> = self.layout.with_untracked(|layout| {
            let seen = layout.rows(scroll, height);
            let near = layout.rows(scroll - height, 3.0 * height);
            let all = seen.into_iter().chain(near);
            all.map(|row| (row.lane, row.depth)).collect()
        });
        let rows = without_repeats(rows);
        let next = self
            .cache
            .with_value(|cache| cache.request(view, width, nanos(extent), rows));
        let Some(request) = next else { return };
        if loader.with_value(|loader| loader.last.as_ref() == Some(&request)) {
            return;
        }
        loader.update_value(|loader| {
            loader.is_asking = true;
            loader.last = Some(request.clone());
        });
        let source = self.source.get_untracked();
        spawn_local_scoped_with_cancellation(async move {
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
            let is_current = self.source.try_get_untracked() == Some(source);
            match answer {
                Ok(answer) if is_current => self.cache.update_value(|cache| cache.insert(answer)),
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
