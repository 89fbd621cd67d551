//! Spans: time that a thread spends between creating a guard and dropping it.

use crate::shared::SharedState;

/// A span that ends when it is dropped; [`crate::Collector::span`] creates one.
#[derive(Debug)]
#[must_use = "a span ends when its guard is dropped: bind it to a name"]
pub struct SpanGuard<'a> {
    shared: &'a SharedState,
    name: &'a str,
    start_nanos: i64,
}

/// Names of a span.
#[derive(Clone, Copy, Debug)]
pub struct SpanNames<'a> {
    /// Name of the span itself.
    pub name: &'a str,
    /// Name of the thread or stream that it runs on.
    pub lane: &'a str,
}

thread_local! {
    /// Cached name of this thread; `thread::current` counts references.
    static LANE: String = std::thread::current()
        .name()
        .map_or_else(|| format!("{:?}", std::thread::current().id()), str::to_owned);
}

impl<'a> SpanGuard<'a> {
    #[inline]
    pub(crate) fn new(shared: &'a SharedState, name: &'a str) -> Self {
        Self {
            shared,
            name,
            start_nanos: shared.clock.nanos(),
        }
    }
}

impl Drop for SpanGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        end(self.shared, self.name, self.start_nanos);
    }
}

/// Records a span of this thread that ends now.
#[inline]
pub(crate) fn end(shared: &SharedState, name: &str, start_nanos: i64) {
    if !shared.is_open(1) {
        return;
    }
    let passed = shared.clock.nanos().saturating_sub(start_nanos);
    let duration_nanos = u64::try_from(passed).unwrap_or(0);
    let push = |lane: &str| shared.push_span([name, lane], start_nanos, duration_nanos);
    // During thread shutdown the name may be gone already.
    if LANE.try_with(|lane| push(lane)).is_err() {
        push("a thread that ends");
    }
}
