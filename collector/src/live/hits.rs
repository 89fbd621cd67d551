//! Hits that the training has found: records of the file.

use std::time::Duration;

use trainscope_format::WatchHit;
use trainscope_format::session::SessionHit;

use crate::entry::Payload;
use crate::shared::SharedState;

/// Records hits and waits until they are in the file, at most this long.
pub(crate) fn write(shared: &SharedState, hits: &[SessionHit], patience: Duration) {
    for hit in hits {
        let record = WatchHit {
            condition: hit.condition.clone(),
            tag: hit.tensor.clone(),
            severity: hit.severity,
            detail: hit.sentence.en.clone(),
        };
        shared.push_record(shared.moment(hit.step), Payload::Hit(record));
    }
    if !hits.is_empty() {
        shared.queue.flush(patience);
    }
}
