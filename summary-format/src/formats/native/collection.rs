//! Dumps, hits and losses.

use super::super::event_file::Fault;
use crate::collection::{CollectorLoss, DumpRef, Severity, WatchHit};
use crate::message::Message;
use crate::wire::{Fields, Value, text};

/// Path 1, tensors 2, length 3, reason 4.
pub(crate) fn write_dump(dump: &DumpRef) -> Message {
    let mut message = Message::default();
    message.text(1, &dump.path);
    message.count(2, dump.tensors);
    message.count(3, dump.len_bytes);
    message.text(4, &dump.reason);
    message
}

pub(super) fn read_dump(message: &[u8]) -> Result<DumpRef, Fault> {
    let mut dump = DumpRef::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(path)) => dump.path = text(path),
            (2, Value::Varint(tensors)) => dump.tensors = tensors,
            (3, Value::Varint(len)) => dump.len_bytes = len,
            (4, Value::Bytes(reason)) => dump.reason = text(reason),
            _ => {}
        }
    }
    Ok(dump)
}

/// Condition 1, tag 2, severity 3 (0 info, 1 warning, 2 error), detail 4.
pub(crate) fn write_hit(hit: &WatchHit) -> Message {
    let mut message = Message::default();
    message.text(1, &hit.condition);
    message.text(2, &hit.tag);
    message.count(3, hit.severity as u64);
    message.text(4, &hit.detail);
    message
}

pub(super) fn read_hit(message: &[u8]) -> Result<WatchHit, Fault> {
    let mut hit = WatchHit::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(condition)) => hit.condition = text(condition),
            (2, Value::Bytes(tag)) => hit.tag = text(tag),
            (3, Value::Varint(number)) => {
                let severity = usize::try_from(number).ok();
                // An unknown severity counts as the worst known one.
                hit.severity = severity
                    .and_then(|index| Severity::ALL.get(index).copied())
                    .unwrap_or(Severity::Error);
            }
            (4, Value::Bytes(detail)) => hit.detail = text(detail),
            _ => {}
        }
    }
    Ok(hit)
}

/// Reason 1, records 2, length 3.
pub(crate) fn write_loss(loss: &CollectorLoss) -> Message {
    let mut message = Message::default();
    message.text(1, &loss.reason);
    message.count(2, loss.records);
    message.count(3, loss.len_bytes);
    message
}

pub(super) fn read_loss(message: &[u8]) -> Result<CollectorLoss, Fault> {
    let mut loss = CollectorLoss::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(reason)) => loss.reason = text(reason),
            (2, Value::Varint(records)) => loss.records = records,
            (3, Value::Varint(len)) => loss.len_bytes = len,
            _ => {}
        }
    }
    Ok(loss)
}
