//! Critical paths of the steps in view, requested while they are shown.

use trainscope_api::timeline::{PathAnswer, PathQuery};

use super::{Model, Source};
use crate::parameters::PATH;
use crate::timeline::view::nanos;
use trainscope_web_kit::client;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Query;
use trainscope_web_kit::url_state::History;

impl Model {
    /// Requests the paths in the view once it rests.
    pub(super) fn ask_path(self, path: Query<PathAnswer>) {
        let events = Memo::new(move |_| self.frame.with(|frame| (frame.events, frame.state)));
        path.start(
            move || {
                let view = self.rested.get();
                let is_wanted = self.has_path.get() && view.to > view.from;
                let (from, to) = (nanos(view.from), nanos(view.to));
                is_wanted.then(|| (self.source.get(), from, to, events.get()))
            },
            |(source, from, to, _): (Source, i64, i64, _)| async move {
                client::timeline_path(&PathQuery {
                    run: source.run,
                    session: source.session,
                    rank: source.rank,
                    from,
                    to,
                })
                .await
            },
        );
    }

    /// Shows the critical path, or hides it.
    pub(in crate::timeline) fn turn_path(self) {
        let path = PATH.to(!self.has_path.get_untracked());
        self.url.set(&[path], History::Replace);
    }
}
