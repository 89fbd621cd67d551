//! Requests of a card: repeated when the query changes, and while its runs grow. Overtaken answers are dropped; the
//! old picture stays until the next one.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;

use crate::client::ClientError;
use crate::live::use_live;
use crate::prelude::*;

/// Changes of a growing run within this time lead to one request.
const LIVE_PAUSE: Duration = Duration::from_millis(500);

/// Sends a request whenever the query changes; `put` gets each answer that was not overtaken, and `None` at once
/// without a query.
pub fn ask_again<W, A, F>(
    want: impl Fn() -> Option<W> + 'static,
    ask: impl Fn(W) -> F + 'static,
    put: impl Fn(Option<A>) + Copy + 'static,
) where
    A: 'static,
    F: Future<Output = A> + 'static,
{
    let asked = StoredValue::new(0_u64);
    Effect::new(move || {
        let wanted = want();
        let number = asked.get_value() + 1;
        asked.set_value(number);
        let Some(wanted) = wanted else {
            put(None);
            return;
        };
        let asking = ask(wanted);
        spawn_local(async move {
            let answer = asking.await;
            // The page may have been left, or the query changed.
            if asked.try_get_value() == Some(number) {
                put(Some(answer));
            }
        });
    });
}

/// The last answer, and the state of the current request.
pub struct Asking<A: Send + Sync + 'static> {
    /// The last answer; `None` before the first.
    pub answer: RwSignal<Option<Arc<A>>>,
    /// True while a request is in progress.
    pub is_fetching: RwSignal<bool>,
    /// True if the last request failed.
    pub has_failed: RwSignal<bool>,
}

impl<A: Send + Sync + 'static> Clone for Asking<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Send + Sync + 'static> Copy for Asking<A> {}

impl<A: Send + Sync + 'static> Asking<A> {
    /// Sends a request whenever the query changes or one of `runs` grows.
    pub fn start<W, F>(
        want: Memo<Option<W>>,
        runs: Signal<Arc<Vec<String>>>,
        ask: impl Fn(W) -> F + Copy + Send + Sync + 'static,
    ) -> Self
    where
        W: Clone + PartialEq + Send + Sync + 'static,
        F: Future<Output = Result<A, ClientError>> + 'static,
    {
        let asking = Self {
            answer: RwSignal::new(None),
            is_fetching: RwSignal::new(false),
            has_failed: RwSignal::new(false),
        };
        let round = StoredValue::new(0_u64);
        let fetch = move || {
            let Some(Some(want)) = want.try_get_untracked() else {
                return;
            };
            round.update_value(|round| *round += 1);
            let mine = round.get_value();
            asking.is_fetching.set(true);
            spawn_local(async move {
                let answer = ask(want).await;
                // The card may be gone, or the query changed.
                if round.try_get_value() != Some(mine) {
                    return;
                }
                asking.is_fetching.set(false);
                asking.has_failed.set(answer.is_err());
                if let Ok(answer) = answer {
                    asking.answer.set(Some(Arc::new(answer)));
                }
            });
        };
        Effect::new(move || {
            want.track();
            fetch();
        });
        let live = use_live();
        let is_due = StoredValue::new(false);
        Effect::new(move |before: Option<u64>| {
            let runs = runs.get();
            let now: u64 = runs.iter().map(|run| live.version(run)).sum();
            if before.is_some_and(|before| before != now) && !is_due.get_value() {
                is_due.set_value(true);
                set_timeout(
                    move || {
                        if is_due.try_set_value(false).is_none() {
                            fetch();
                        }
                    },
                    LIVE_PAUSE,
                );
            }
            now
        });
        asking
    }
}
