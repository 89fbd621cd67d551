//! Spans of the crate `tracing` as spans of the run: one for each time that a span is entered.

use std::cell::RefCell;

use tracing_core::Subscriber;
use tracing_core::span::Id;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::SpanKind;
use crate::collector::Collector;
use crate::span;

/// A layer for `tracing_subscriber`'s registry.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// use trainscope_collector::{Collector, adapters::tracing::SpanLayer};
/// use tracing_subscriber::prelude::*;
///
/// let collector = Collector::builder(folder.path()).start()?;
/// let subscriber = tracing_subscriber::registry().with(SpanLayer::new(&collector));
/// tracing::subscriber::with_default(subscriber, || {
///     tracing::info_span!("forward").in_scope(|| ());
/// });
/// assert_eq!(collector.finish().records_written, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SpanLayer {
    collector: Collector,
}

thread_local! {
    /// Spans that this thread has entered and not left, with the time of entering in nanoseconds since 1970.
    static ENTERED: RefCell<Vec<(Id, i64)>> = const { RefCell::new(Vec::new()) };
}

impl SpanLayer {
    /// Creates a layer that records all spans that reach it.
    pub fn new(collector: &Collector) -> Self {
        Self {
            collector: collector.clone(),
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanLayer {
    fn on_enter(&self, id: &Id, _context: Context<'_, S>) {
        let now = self.collector.shared().clock.nanos();
        // During thread shutdown the list is gone already.
        let _gone = ENTERED.try_with(|entered| {
            if let Ok(mut entered) = entered.try_borrow_mut() {
                entered.push((id.clone(), now));
            }
        });
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let begun = ENTERED.try_with(|entered| {
            let mut entered = entered.try_borrow_mut().ok()?;
            let at = entered.iter().rposition(|(known, _)| known == id)?;
            Some(entered.remove(at).1)
        });
        if let (Ok(Some(begun)), Some(span)) = (begun, context.span(id)) {
            let kind = SpanKind::Other;
            span::end(self.collector.shared(), kind, span.name(), begun);
        }
    }
}
