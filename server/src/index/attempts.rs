//! Writers of one series: their parts as attempts, oldest first, with the steps that later ones have superseded.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use trainscope_analysis::restart::{self, Extent, Link, Rewinds};
use trainscope_api::scalars;
use trainscope_format::{Kind, SessionStart};

use super::ReadError;
use super::chunk::{Points, Want};
use super::part::{Part, Piece};
use super::source::Source;
use super::store::Store;

/// Parts of the same tag of one rank that make one series.
pub(super) struct Writer {
    /// Path of the first file, for all writers but the first.
    pub(super) name: Option<Arc<str>>,
    /// Attempts, oldest first.
    pub(super) attempts: Vec<Attempt>,
}

/// One part of a series.
pub(super) struct Attempt {
    pub(super) part: Arc<Part>,
    /// File of the part.
    pub(super) source: Arc<Source>,
    /// Steps that other files have written again or purged.
    pub(super) superseded: Vec<RangeInclusive<i64>>,
    /// Number of the attempt by this tag alone.
    number: u64,
    /// Its entry in the API, if there are several attempts.
    pub(super) told: Vec<scalars::Attempt>,
    /// Session starts of its file.
    starts: Vec<SessionStart>,
}

impl Writer {
    /// Its files, to number the attempts of all tags.
    pub(super) fn files(&self) -> Vec<Link> {
        let link = |attempt: &Attempt| Link {
            file: attempt.source.id,
            number: attempt.number,
            first_wall_time_secs: attempt
                .part
                .wall_times_secs()
                .map_or(f64::NAN, |(first, _)| first),
        };
        self.attempts.iter().map(link).collect()
    }

    /// True if it has several attempts.
    pub(super) fn has_attempts(&self) -> bool {
        self.attempts.iter().any(|attempt| !attempt.told.is_empty())
    }

    /// Sets the numbers of its attempts to those of the program.
    pub(super) fn renumber(&mut self, numbers: &BTreeMap<u64, u64>) {
        for attempt in &mut self.attempts {
            let number = numbers.get(&attempt.source.id).copied();
            for told in &mut attempt.told {
                told.number = number.unwrap_or(told.number);
            }
        }
    }
}

impl Attempt {
    /// Points superseded by later points of the same file; `None` if steps ascend.
    pub(super) fn rewinds(
        &self,
        pieces: &[Piece],
        store: &Store,
    ) -> Result<Option<Arc<Rewinds>>, ReadError> {
        if self.starts.is_empty() && is_ascending(self.part.kind, pieces) {
            return Ok(None);
        }
        let count: u64 = pieces.iter().map(|piece| piece.meta.summary.count).sum();
        let mut known = self.part.rewinds.lock();
        if let Some(known) = known
            .as_ref()
            .filter(|known| known.live.len() as u64 == count)
        {
            return Ok(Some(Arc::clone(known)));
        }
        let want = if self.starts.is_empty() {
            Want::Steps
        } else {
            Want::All
        };
        let mut all = Points::default();
        for piece in pieces {
            let mut points = piece.points(want, store)?;
            all.steps.append(&mut points.steps);
            all.wall_times_secs.append(&mut points.wall_times_secs);
        }
        let starts = restart::starts_within(&all.wall_times_secs, &self.starts);
        let mut found = restart::rewinds(&all.steps, &starts);
        if self.part.kind == Kind::Scalars {
            restart::leave_newest(&mut found, &all.steps);
        }
        let found = Arc::new(found);
        *known = Some(Arc::clone(&found));
        Ok(Some(found))
    }

    /// Summary of its points. Store errors are reported when the points are read.
    fn extent(&self, store: &Store) -> Extent {
        let counted = self.part.counted();
        let (first, last) = self.part.wall_times_secs().unwrap_or((f64::NAN, f64::NAN));
        let min_step = counted.min_step.unwrap_or(i64::MAX);
        let mut extent = Extent {
            first_wall_time_secs: first,
            last_wall_time_secs: last,
            min_step,
            next_step: min_step,
            max_step: counted.max_step.unwrap_or(i64::MIN),
            points: counted.points,
        };
        let pieces = self.part.pieces();
        match self.rewinds(&pieces, store) {
            Ok(Some(rewinds)) => {
                extent.min_step = rewinds.min_step;
                extent.next_step = rewinds.next_step;
                extent.max_step = rewinds.max_step;
            }
            Ok(None) => extent.next_step = self.next_step(&pieces, min_step, store),
            Err(_) => {}
        }
        extent
    }

    /// Lowest step above `min_step`, of ascending steps.
    fn next_step(&self, pieces: &[Piece], min_step: i64, store: &Store) -> i64 {
        let mut known = self.part.next_step.lock();
        if known.is_none() {
            let piece = pieces.iter().find(|piece| piece.meta.max_step > min_step);
            let points = piece.and_then(|piece| piece.points(Want::Steps, store).ok());
            let mut steps = points.iter().flat_map(|points| &points.steps);
            *known = steps.find(|step| **step > min_step).copied();
        }
        known.unwrap_or(min_step)
    }
}

/// True if no point can be superseded by a later one: steps ascend, or stay where several records of a step count.
fn is_ascending(kind: Kind, pieces: &[Piece]) -> bool {
    let goes_on = |a: &Piece, b: &Piece| match kind {
        Kind::Scalars => a.meta.max_step < b.meta.min_step,
        _ => a.meta.max_step <= b.meta.min_step,
    };
    pieces.iter().all(|piece| piece.meta.ascends) && pieces.is_sorted_by(goes_on)
}

/// The entry in the API of an attempt that has written these ranges of steps.
fn told_of(
    extent: &Extent,
    ranges: Vec<RangeInclusive<i64>>,
    number: u64,
) -> Vec<scalars::Attempt> {
    // A program without a clock writes 0.
    let first = Some(extent.first_wall_time_secs).filter(|first| first.is_finite() && *first > 0.0);
    let ranges = ranges.into_iter().filter(|range| !range.is_empty());
    let told = |range: RangeInclusive<i64>| scalars::Attempt {
        number,
        first_wall_time_secs: first,
        from: *range.start(),
        to: *range.end(),
    };
    ranges.map(told).collect()
}

/// Session starts of files, each with the id of its file.
pub(super) fn starts<'a>(
    sources: impl IntoIterator<Item = &'a Arc<Source>>,
) -> Vec<(u64, SessionStart)> {
    let of = |source: &'a Arc<Source>| {
        let starts = source.with_state(|state| state.session_starts.clone());
        starts.into_iter().map(|start| (source.id, start))
    };
    sources.into_iter().flat_map(of).collect()
}

/// Groups parts that are ordered by path into writers. `starts` are those of all files of the rank.
pub(super) fn group(
    parts: Vec<(Arc<Source>, Arc<Part>)>,
    starts: &[(u64, SessionStart)],
    store: &Store,
) -> Vec<Writer> {
    let attempt = |(source, part): (Arc<Source>, Arc<Part>)| {
        let of_file = starts.iter().filter(|(file, _)| *file == source.id);
        Attempt {
            starts: of_file.map(|(_, start)| *start).collect(),
            superseded: Vec::new(),
            number: 1,
            told: Vec::new(),
            part,
            source,
        }
    };
    let mut attempts: Vec<Attempt> = parts.into_iter().map(attempt).collect();
    for attempt in &mut attempts {
        let last = attempt
            .part
            .wall_times_secs()
            .map_or(f64::NAN, |(_, last)| last);
        let purges = starts
            .iter()
            .filter(|(file, start)| *file != attempt.source.id && start.wall_time_secs > last);
        attempt.superseded = purges.map(|(_, start)| start.step..=i64::MAX).collect();
    }
    if attempts.len() == 1 {
        return vec![Writer {
            name: None,
            attempts,
        }];
    }
    let extents: Vec<Extent> = attempts
        .iter()
        .map(|attempt| attempt.extent(store))
        .collect();
    let mut attempts: Vec<Option<Attempt>> = attempts.into_iter().map(Some).collect();
    let mut writers = Vec::new();
    for (n, indices) in restart::writers(&extents).into_iter().enumerate() {
        let chosen: Vec<Extent> = indices.iter().map(|i| extents[*i]).collect();
        let has_attempts = restart::went_back(chosen.iter().copied()) > 0;
        let told = restart::written(&chosen).into_iter();
        let mut told = told.zip(restart::numbers(chosen.iter().copied()));
        let mut of_writer = Vec::new();
        for (index, ranges) in indices.into_iter().zip(restart::superseded(&chosen)) {
            let written = told.next();
            if let Some(mut attempt) = attempts[index].take() {
                attempt.superseded.extend(ranges);
                if let Some((ranges, number)) = written.filter(|_| has_attempts) {
                    attempt.number = number;
                    attempt.told = told_of(&extents[index], ranges, number);
                }
                of_writer.push(attempt);
            }
        }
        let first = of_writer.first().map(|attempt| attempt.source.place().path);
        writers.push(Writer {
            name: first.filter(|_| n > 0),
            attempts: of_writer,
        });
    }
    writers
}
