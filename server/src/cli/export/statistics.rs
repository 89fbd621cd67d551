//! Statistics of tensors: those recorded by the training, then those computed here from recorded elements.

use std::collections::BTreeSet;
use std::sync::Arc;

use trainscope_analysis::watchpoint::role_of;
use trainscope_api::records::At;
use trainscope_api::tags::Tag;
use trainscope_api::tensors::TensorIndexQuery;
use trainscope_format::{Body, Kind, Role, TensorSummary};

use super::left_out::SkippedTensors;
use super::records::{self, body};
use super::table::Table;
use super::{ExportFlags, judged};
use crate::cli::CommandError;
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;
use crate::tensor_files::contents::Content;
use crate::tensors::find::{OpenTensor, Steps, TensorError};
use crate::tensors::summary::stats;

/// Exported steps of each rank, by name.
type StatisticsRow = BTreeSet<(String, u32, i64)>;

/// True if elements were recorded, or statistics in files of dumps.
pub(super) fn are_there(flags: &ExportFlags, reading: &Reading) -> bool {
    judged::listed(flags, reading, &TensorIndexQuery::default()).is_ok()
}

/// Writes a row for each tensor at each step of each rank.
pub(super) fn write(
    flags: &ExportFlags,
    reading: &Reading,
    tags: &[Tag],
    table: &mut Table<'_>,
    left_out: &mut SkippedTensors,
) -> Result<(), CommandError> {
    records::write(flags, reading, tags, table)?;
    let mut rows = Rows {
        flags,
        reading,
        written: StatisticsRow::new(),
        left_out,
    };
    for tag in tags {
        let query = flags.query(reading, tag);
        let found = reading
            .index
            .records(Kind::Statistics, &query, |_| Ok(Some(())))
            .map_err(|error| reading.unread(&error))?;
        let steps = found.steps.into_iter();
        rows.written
            .extend(steps.map(|step| (tag.tag.clone(), tag.rank, step)));
    }
    table.end_lines_with("");
    rows.dumps(table)?;
    rows.events(table)
}

struct Rows<'a> {
    flags: &'a ExportFlags,
    reading: &'a Reading,
    written: StatisticsRow,
    left_out: &'a mut SkippedTensors,
}

impl Rows<'_> {
    /// Exports tensor files step by step: listing a step takes as long as listing one of its tensors.
    fn dumps(&mut self, table: &mut Table<'_>) -> Result<(), CommandError> {
        let Some(recorded) = self.reading.index.recording(&self.reading.run) else {
            return Ok(());
        };
        for (&rank, found) in &recorded.run.ranks {
            let steps = found
                .steps
                .keys()
                .filter(|step| self.flags.wants_step(**step));
            for &step in steps.filter(|_| self.flags.rank.is_none_or(|wanted| wanted == rank)) {
                let mut contents: Vec<(Arc<str>, Content)> =
                    recorded.contents(rank, step).into_iter().collect();
                contents.sort_by(|a, b| a.0.cmp(&b.0));
                for (name, content) in contents {
                    if !self.is_wanted(&name, rank, step) {
                        continue;
                    }
                    let shown = || self.shown(&name, rank, step);
                    let summary = match content {
                        Content::Known(figures) => Ok(figures.summary()),
                        Content::Opaque(opaque) => Err(TensorError::Opaque {
                            file: shown(),
                            dtype: opaque.dtype,
                        }),
                        Content::At(_) => self.computed(&name, rank, step),
                    };
                    self.put(&name, rank, step, summary, table)?;
                }
            }
        }
        Ok(())
    }

    /// Tensors in event files.
    fn events(&mut self, table: &mut Table<'_>) -> Result<(), CommandError> {
        let tags = self.reading.tags_of(Kind::Tensors)?;
        for tag in tags {
            if self.flags.rank.is_some_and(|rank| rank != tag.rank) {
                continue;
            }
            let steps = self.steps(&tag.tag, tag.rank);
            let steps = steps.map_err(|error| Mistake::new(2, error.to_string()))?;
            let all: Vec<i64> = steps.elements.keys().copied().collect();
            for step in all {
                if self.flags.wants_step(step) && self.is_wanted(&tag.tag, tag.rank, step) {
                    let summary = self.computed(&tag.tag, tag.rank, step);
                    self.put(&tag.tag, tag.rank, step, summary, table)?;
                }
            }
        }
        Ok(())
    }

    /// True if it is selected and not yet exported.
    fn is_wanted(&self, name: &str, rank: u32, step: i64) -> bool {
        let is_asked = |regex: &regex::Regex| regex.is_match(name);
        self.flags.tags.as_ref().is_none_or(is_asked)
            && !self.written.contains(&(name.to_owned(), rank, step))
    }

    fn steps<'s>(&'s self, name: &'s str, rank: u32) -> Result<Steps<'s>, TensorError> {
        Steps::find(&self.reading.index, &self.reading.run, name, rank)
    }

    fn shown(&self, name: &str, rank: u32, step: i64) -> String {
        let recorded = self.reading.index.recording(&self.reading.run);
        let found = recorded.and_then(|recorded| recorded.locate(name, rank, step));
        found.map_or_else(String::new, |found| found.shown.to_string())
    }

    fn computed(&self, name: &str, rank: u32, step: i64) -> Result<TensorSummary, TensorError> {
        let OpenTensor { stored, place } = self.steps(name, rank)?.open(step, None)?;
        let stats = stats(&stored).map_err(|unread| TensorError::unread(&place.file, unread))?;
        Ok(TensorSummary {
            role: Role::Other,
            dtype: stored.dtype,
            shape: place.shape,
            stats,
            hash: None,
            change: None,
            channels: None,
        })
    }

    fn put(
        &mut self,
        name: &str,
        rank: u32,
        step: i64,
        summary: Result<TensorSummary, TensorError>,
        table: &mut Table<'_>,
    ) -> Result<(), CommandError> {
        self.written.insert((name.to_owned(), rank, step));
        let mut summary = match summary {
            Ok(summary) => summary,
            Err(error) => {
                self.left_out.add(name, rank, step, &error);
                return Ok(());
            }
        };
        let recorded = self.reading.index.recording(&self.reading.run);
        let listed = recorded.and_then(|recording| Some(recording.catalog().tensor(name)?.role));
        summary.role = listed.unwrap_or_else(|| role_of(summary.role, name, ""));
        let tag = Tag {
            tag: name.to_owned(),
            rank,
            kind: Kind::Statistics,
            role: None,
            points: 1,
            superseded: 0,
            first_step: None,
            last_step: None,
            writer: None,
            file: None,
        };
        let at = At {
            step,
            // Tensor files have no wall time.
            wall_time_secs: f64::NAN,
            body: Body::Statistics(Box::new(summary)),
        };
        Ok(body(&tag, &at, 0, table)?)
    }
}
