//! Announcements for screen readers: the connection, a pause, new hits.

use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::live::{Connection, use_live};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;
use trainscope_web_kit::state::use_app_state;

/// A visually hidden live region.
#[component]
pub(super) fn News() -> impl IntoView {
    let i18n = use_i18n();
    let live = use_live();
    let state = use_app_state();
    // `None` before the first list, whose hits are not news.
    let hits = Memo::new(move |_| {
        (state.load.get() == Load::Ready(())).then(|| {
            state.runs.with(|list| {
                let judged = list.runs.iter().filter_map(|run| run.health.as_ref());
                judged.map(|health| health.counts.problems()).sum::<u64>()
            })
        })
    });
    let before = StoredValue::new(None::<u64>);
    let new_hits = RwSignal::new(0_u64);
    Effect::new(move || {
        let now = hits.get();
        let before = before
            .try_update_value(|before| std::mem::replace(before, now))
            .flatten();
        let more = now
            .zip(before)
            .map_or(0, |(now, before)| now.saturating_sub(before));
        if more > 0 {
            new_hits.set(more);
        }
    });
    // The countdown in the note would be announced every second.
    let lost = Memo::new(move |_| match live.connection.get() {
        Connection::Lost { since_millis, .. } => Some(since_millis),
        Connection::Opening | Connection::Open => None,
    });
    let text = move || {
        let texts = i18n.texts();
        if let Some(since) = lost.get() {
            (texts.states().no_connection)(&format::clock(since / 1_000.0))
        } else if live.paused.get() {
            texts.states().paused.to_owned()
        } else {
            match new_hits.get() {
                0 => String::new(),
                more => (texts.states().new_hits)(more),
            }
        }
    };
    view! {
        <div class="sr-only" role="status" aria-live="polite">
            {text}
        </div>
    }
}
