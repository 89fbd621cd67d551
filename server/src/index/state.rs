//! Progress of reading one source file, as it is stored: offset, damage, counts.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use trainscope_api::runs::MAX_HPARAMS;
use trainscope_format::hparams::HparamValue;
use trainscope_format::lineage::LineageValue;
use trainscope_format::{Body, Damage, Format, Hparams, Kind, Lineage, RecordBatch, SessionStart};

use super::program_settings::settings_of;
use crate::discovery::file::{Head, Identity, Place};

/// Maximum number of session starts stored per file. A program writes one each time it begins or resumes.
const MAX_SESSION_STARTS: usize = 10_000;

/// A file as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileRecord {
    pub(super) place: Place,
    pub(super) format: Format,
    pub(super) identity: Identity,
    pub(super) state: SourceState,
}

/// Progress in a file, and summaries of its records.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SourceState {
    /// Size at the last check.
    pub(crate) len_bytes: u64,
    /// Modification time at the last check.
    pub(crate) modified: Option<SystemTime>,
    /// True if it was longer at a later check.
    #[serde(skip)]
    pub(crate) has_grown: bool,
    /// Bytes fed to the decoder. After a restart: equal to `offset`.
    pub(crate) fed_bytes: u64,
    /// Bytes before this one are decoded and published.
    pub(crate) offset: u64,
    /// State of the decoder, except for offset and tags.
    pub(crate) decoder: Vec<u8>,
    /// The first bytes.
    pub(crate) head: Head,
    pub(crate) first_damage: Option<Damage>,
    /// Damage at the end whose extent is unknown yet.
    pub(crate) open_damage: Option<Damage>,
    /// Bytes in damaged ranges.
    pub(crate) skipped_bytes: u64,
    /// Records of unknown content.
    pub(crate) skipped_records: u64,
    /// Records that the program reports as not written.
    pub(crate) lost_records: u64,
    /// Records published.
    pub(crate) records: u64,
    /// Number of these records in the store.
    #[serde(skip)]
    pub(crate) committed_records: u64,
    /// Session starts, at most [`MAX_SESSION_STARTS`].
    pub(crate) session_starts: Vec<SessionStart>,
    /// Hyper-parameters of its run.
    pub(crate) hparams: BTreeMap<String, HparamValue>,
    /// Settings in the facts of its program, used if no hyper-parameter has the name.
    pub(crate) of_program: BTreeMap<String, HparamValue>,
    /// Records counted but not read, by kind.
    pub(crate) unread: BTreeMap<Kind, u64>,
    /// Earliest wall time of a record; NaN and 0 do not count.
    pub(crate) first_wall_time_secs: Option<f64>,
    /// Latest wall time of a record.
    pub(crate) last_wall_time_secs: Option<f64>,
    /// Highest step.
    pub(crate) last_step: Option<i64>,
    /// Reason why it cannot be opened or read.
    #[serde(skip)]
    pub(crate) unreadable: Option<String>,
    /// True if it is no longer on disk.
    #[serde(skip)]
    pub(crate) gone: bool,
}

impl SourceState {
    /// Updates totals with a batch's records, times, steps and damages.
    pub(super) fn see(&mut self, batch: &RecordBatch) {
        self.records += batch.len_records();
        self.skipped_records += batch.skipped_records;
        let free = MAX_SESSION_STARTS.saturating_sub(self.session_starts.len());
        let starts = batch.session_starts.iter().take(free);
        self.session_starts.extend(starts);
        for record in &batch.records {
            match &record.body {
                Body::Loss(loss) => {
                    self.lost_records = self.lost_records.saturating_add(loss.records);
                }
                Body::Hparams(Hparams::SessionStart(start)) => {
                    note(&mut self.hparams, start.values.iter().cloned());
                }
                Body::Lineage(lineage) => note(&mut self.hparams, of_lineage(lineage)),
                Body::Program(fact) => note(&mut self.of_program, settings_of(fact)),
                _ => {}
            }
        }
        self.skipped_bytes += batch
            .damages
            .iter()
            .map(|damage| damage.len_bytes)
            .sum::<u64>();
        if self.first_damage.is_none() {
            self.first_damage = batch.damages.first().cloned();
        }
        let records = || batch.records.iter().map(|r| (r.step, r.wall_time_secs));
        let unread = || batch.unread.iter().map(|r| (r.step, r.wall_time_secs));
        let scalars = &batch.scalars;
        let steps = scalars.steps.iter().copied();
        let steps = steps.chain(records().chain(unread()).map(|(step, _)| step));
        self.last_step = self.last_step.max(steps.max());
        let wall_times = scalars.wall_times_secs.iter().copied();
        let wall_times = wall_times.chain(records().chain(unread()).map(|(_, time)| time));
        let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
        wall_times
            .filter(|time| time.is_finite() && *time != 0.0)
            .for_each(|time| {
                first = first.min(time);
                last = last.max(time);
            });
        if first <= last {
            self.first_wall_time_secs =
                Some(self.first_wall_time_secs.map_or(first, |t| t.min(first)));
            self.last_wall_time_secs = Some(self.last_wall_time_secs.map_or(last, |t| t.max(last)));
        }
    }

    /// Updates the size of the file: if it has increased, the file is being written.
    pub(crate) fn resize(&mut self, len_bytes: u64) {
        self.has_grown |= (1..len_bytes).contains(&self.len_bytes);
        self.len_bytes = len_bytes;
    }

    /// First damage with its offset and description.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.first_damage.as_ref().or(self.open_damage.as_ref())
    }

    /// Bytes in damaged ranges, including the open one.
    pub(crate) fn damaged_bytes(&self) -> u64 {
        self.skipped_bytes
            + self
                .open_damage
                .as_ref()
                .map_or(0, |damage| damage.len_bytes)
    }
}

/// Adds settings, or replaces their values.
fn note(
    known: &mut BTreeMap<String, HparamValue>,
    values: impl IntoIterator<Item = (String, HparamValue)>,
) {
    for (name, value) in values {
        if known.len() < MAX_HPARAMS || known.contains_key(&name) {
            known.insert(name, value);
        }
    }
}

/// Values in lineage that other programs write as hyper-parameters, under the names of those.
fn of_lineage(lineage: &Lineage) -> Vec<(String, HparamValue)> {
    let text = |value: &String| HparamValue::Text(value.clone());
    let count = |value: &i64| HparamValue::Number(*value as f64);
    let values = match lineage {
        Lineage::Train(train) => vec![
            ("optimizer", train.optimizer.as_ref().map(text)),
            (
                "learning_rate",
                train.learning_rate.map(HparamValue::Number),
            ),
            ("loss_function", train.loss_function.as_ref().map(text)),
            ("epochs", train.epochs.as_ref().map(count)),
            ("batch_size", train.batch_size.as_ref().map(count)),
            ("network", train.network.as_ref().map(text)),
        ],
        Lineage::UserDefined(info) => {
            let value = |value: &LineageValue| match value {
                LineageValue::Text(text) => Some(HparamValue::Text(text.clone())),
                LineageValue::Bool(yes) => Some(HparamValue::Bool(*yes)),
                LineageValue::Int(number) => Some(HparamValue::Number(*number as f64)),
                LineageValue::Number(number) => Some(HparamValue::Number(*number)),
                LineageValue::Texts(_) | LineageValue::Map(_) => None,
            };
            let values = info.values.iter();
            return values
                .filter_map(|(name, v)| Some((name.clone(), value(v)?)))
                .collect();
        }
        Lineage::Evaluation(_) | Lineage::Dataset(_) => Vec::new(),
    };
    let known = values.into_iter();
    known
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}
