//! Spans: time that a thread spends between creating a guard and dropping it.

use trainscope_format::profile::SpanKind;

use crate::shared::SharedState;

/// A span that ends when it is dropped; [`crate::Collector::span`] creates one.
#[derive(Debug)]
#[must_use = "a span ends when its guard is dropped: bind it to a name"]
pub struct SpanGuard<'a> {
    shared: &'a SharedState,
    kind: SpanKind,
    name: &'a str,
    start_nanos: i64,
}

/// The start of an arrow between two spans; [`crate::Collector::end_flow`] ends it, on any thread.
#[derive(Debug)]
#[must_use = "a flow is recorded when it ends"]
pub struct FlowBegin {
    pub(crate) lane: String,
    pub(crate) nanos: i64,
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
    pub(crate) fn new(shared: &'a SharedState, kind: SpanKind, name: &'a str) -> Self {
        Self {
            shared,
            kind,
            name,
            start_nanos: shared.clock.nanos(),
        }
    }
}

impl Drop for SpanGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        end(self.shared, self.kind, self.name, self.start_nanos);
    }
}

/// Records a span of this thread that ends now.
#[inline]
pub(crate) fn end(shared: &SharedState, kind: SpanKind, name: &str, start_nanos: i64) {
    if !shared.is_open(1) {
        return;
    }
    let passed = shared.clock.nanos().saturating_sub(start_nanos);
    let duration_nanos = u64::try_from(passed).unwrap_or(0);
    with_lane(|lane| shared.push_span(kind, [name, lane], start_nanos, duration_nanos));
}

/// Calls a function with the lane of this thread.
#[inline]
pub(crate) fn with_lane<T>(take: impl Fn(&str) -> T) -> T {
    // During thread shutdown the name may be gone already.
    LANE.try_with(|lane| take(lane))
        .unwrap_or_else(|_| take("a thread that ends"))
}
