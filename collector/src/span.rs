//! Spans: what a thread was busy with, from the making of a guard to its end.

use crate::shared::Shared;

/// A span that ends when this is dropped; [`crate::Collector::span`] makes one.
#[derive(Debug)]
#[must_use = "a span ends when its guard is dropped: bind it to a name"]
pub struct SpanGuard<'a> {
    shared: &'a Shared,
    name: &'a str,
    start_nanos: i64,
}

thread_local! {
    /// The name of this thread; asking the thread itself counts references.
    static LANE: String = std::thread::current()
        .name()
        .map_or_else(|| format!("{:?}", std::thread::current().id()), str::to_owned);
}

impl<'a> SpanGuard<'a> {
    #[inline]
    pub(crate) fn new(shared: &'a Shared, name: &'a str) -> Self {
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
pub(crate) fn end(shared: &Shared, name: &str, start_nanos: i64) {
    if !shared.is_open(1) {
        return;
    }
    let passed = shared.clock.nanos().saturating_sub(start_nanos);
    let duration_nanos = u64::try_from(passed).unwrap_or(0);
    let push = |lane: &str| shared.push_span([name, lane], start_nanos, duration_nanos);
    // While a thread is taken down its name may be gone already.
    if LANE.try_with(|lane| push(lane)).is_err() {
        push("a thread that ends");
    }
}
