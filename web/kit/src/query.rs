//! Requests of pages: sent again when their key or a version changes; an overtaken request is cancelled.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local_scoped_with_cancellation;

use crate::client::ClientError;
use crate::live::use_live;
use crate::prelude::*;

/// Changes of a version within this time lead to one request.
const LIVE_PAUSE: Duration = Duration::from_millis(500);

/// State of data that a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load<T> {
    /// Before the first answer.
    Loading,
    /// The last answer; it may be older than the last change.
    Ready(T),
    /// No answer, and the reason.
    Failed(ClientError),
}

impl<T> Load<T> {
    /// The same state of another value.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Load<U> {
        match self {
            Self::Loading => Load::Loading,
            Self::Ready(value) => Load::Ready(of(value)),
            Self::Failed(error) => Load::Failed(error),
        }
    }
}

/// The last answer, and the state of the current request.
pub struct Query<A: Send + Sync + 'static> {
    /// The last answer; `None` before the first and without a key.
    pub answer: RwSignal<Option<Arc<A>>>,
    /// Reason of the last failure; `None` after an answer.
    pub error: RwSignal<Option<ClientError>>,
    /// True while a request is in progress.
    pub is_fetching: RwSignal<bool>,
    round: RwSignal<u64>,
    /// The version has changed since the current request was sent.
    is_outdated: StoredValue<bool>,
}

impl<A: Send + Sync + 'static> Clone for Query<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Send + Sync + 'static> Copy for Query<A> {}

/// Sends a request whenever `key` changes; without a key there is no answer. The previous answer stays while the next
/// one is on its way, and when the server cannot be reached.
pub fn query<K, A, F>(
    key: impl Fn() -> Option<K> + Send + Sync + 'static,
    fetch: impl Fn(K) -> F + 'static,
) -> Query<A>
where
    K: Clone + PartialEq + Send + Sync + 'static,
    A: PartialEq + Send + Sync + 'static,
    F: Future<Output = Result<A, ClientError>> + 'static,
{
    let query = Query::idle();
    query.start(key, fetch);
    query
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "a query is a handle that is kept elsewhere as well"
)]
impl<A: Send + Sync + 'static> Query<A> {
    /// A query without a request, for keys that depend on its answers; see [`Self::start`].
    pub fn idle() -> Self {
        Self {
            answer: RwSignal::new(None),
            error: RwSignal::new(None),
            is_fetching: RwSignal::new(false),
            round: RwSignal::new(0),
            is_outdated: StoredValue::new(false),
        }
    }

    /// Begins to send requests, as [`query`].
    pub fn start<K, F>(
        self,
        key: impl Fn() -> Option<K> + Send + Sync + 'static,
        fetch: impl Fn(K) -> F + 'static,
    ) where
        K: Clone + PartialEq + Send + Sync + 'static,
        A: PartialEq,
        F: Future<Output = Result<A, ClientError>> + 'static,
    {
        let key = Memo::new(move |_| key());
        let answered = StoredValue::new(None::<K>);
        Effect::new(move || {
            self.round.track();
            let Some(key) = key.get() else {
                put(self.is_fetching, false);
                self.clear();
                return;
            };
            put(self.is_fetching, true);
            self.is_outdated.set_value(false);
            let answer = untrack(|| fetch(key.clone()));
            spawn_local_scoped_with_cancellation(async move {
                let answer = answer.await;
                match answer {
                    Ok(answer) => {
                        answered.set_value(Some(key));
                        put(self.error, None);
                        let is_new = |known: &Option<Arc<A>>| known.as_deref() != Some(&answer);
                        if self.answer.with_untracked(is_new) {
                            self.answer.set(Some(Arc::new(answer)));
                        }
                    }
                    Err(error) => {
                        let is_other = answered.with_value(|known| known.as_ref() != Some(&key));
                        if is_other && matches!(error, ClientError::Refused(_)) {
                            put(self.answer, None);
                        }
                        put(self.error, Some(error));
                    }
                }
                put(self.is_fetching, false);
                if self.is_outdated.get_value() {
                    self.ask_again();
                }
            });
        });
    }

    /// Sends the request again, after the current one.
    pub fn ask_again(self) {
        if self.is_fetching.try_get_untracked() == Some(true) {
            self.is_outdated.set_value(true);
        } else {
            self.round.try_update(|round| *round += 1);
        }
    }

    /// Sends the request again when a version changes.
    pub fn again_with(self, version: impl Fn() -> u64 + 'static) -> Self {
        let is_due = StoredValue::new(false);
        Effect::new(move |before: Option<u64>| {
            let now = version();
            if before.is_some_and(|before| before != now) && !is_due.get_value() {
                is_due.set_value(true);
                set_timeout(
                    move || {
                        if is_due.try_set_value(false).is_none() {
                            self.ask_again();
                        }
                    },
                    LIVE_PAUSE,
                );
            }
            now
        });
        self
    }

    /// Sends the request again when runs come, go or are judged.
    pub fn again_with_list(self) -> Self {
        let live = use_live();
        self.again_with(move || live.list_version.get())
    }

    /// Sends the request again when one of the runs grows.
    pub fn again_with_runs(self, runs: Signal<Arc<Vec<String>>>) -> Self {
        let live = use_live();
        self.again_with(move || runs.with(|runs| runs.iter().map(|run| live.version(run)).sum()))
    }

    /// Drops the answer when a subject changes, so that one of another subject is never shown.
    pub fn cleared_with<S: PartialEq + 'static>(self, subject: impl Fn() -> S + 'static) -> Self {
        Effect::new(move |before: Option<S>| {
            let now = subject();
            if before.is_some_and(|before| before != now) {
                self.clear();
            }
            now
        });
        self
    }

    fn clear(self) {
        put(self.error, None);
        if self.answer.with_untracked(Option::is_some) {
            self.answer.set(None);
        }
    }

    /// Answer or failure; reactive.
    pub fn load(self) -> Load<Arc<A>> {
        match (self.answer.get(), self.error.get()) {
            (Some(answer), _) => Load::Ready(answer),
            (None, Some(error)) => Load::Failed(error),
            (None, None) => Load::Loading,
        }
    }

    /// True if the last request failed; reactive.
    pub fn has_failed(self) -> Signal<bool> {
        Signal::derive(move || self.error.with(Option::is_some))
    }
}

/// Sets a signal of a page that still exists, if the value is another one.
pub fn put<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    signal.maybe_update(|old| {
        let is_other = *old != value;
        if is_other {
            *old = value;
        }
        is_other
    });
}
