//! The runs with their sources, and the entries of run and tag lists.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, RwLock};
use trainscope_analysis::{headline, restart, watchpoint};
use trainscope_api::order::natural;
use trainscope_api::runs::{File, FileStatus, LastValue, MAX_HPARAMS, Run, RunStatus};
use trainscope_api::tags::{Tag, TagList};
use trainscope_format::{Format, Kind, Role};

use super::attempts::{self, Writer};
use super::reader;
use super::source::Source;
use super::state::SourceState;
use super::store::Store;

/// Maximum number of tags in one answer.
const MAX_TAGS: usize = 200_000;
/// Maximum number of undamaged files listed for one run.
pub(super) const MAX_FILES: usize = 64;
/// A file counts as growing for this long after its last change, or for five of its usual pauses if that is longer.
pub(super) const LIVE: Duration = Duration::from_mins(1);
/// Maximum time for which a file counts as growing.
const LIVE_AT_MOST: Duration = Duration::from_hours(1);

/// One run: its sources by path.
#[derive(Default)]
pub(super) struct RunEntry {
    sources: RwLock<Vec<Arc<Source>>>,
    facts: Mutex<Facts>,
    /// Numbers of the attempts by rank, with the number of records from which they follow.
    attempts: Mutex<BTreeMap<u32, (u64, AttemptNumbers)>>,
}

/// Numbers of attempts by file.
type AttemptNumbers = Arc<BTreeMap<u64, u64>>;

/// Data derived from the set of tags; computed again when it grows.
#[derive(Clone, Default)]
struct Facts {
    parts: usize,
    kinds: BTreeMap<String, u64>,
    ranks: Vec<u32>,
    loss: Option<(u32, Arc<str>)>,
    metric: Option<(u32, Arc<str>)>,
}

/// All runs by name.
#[derive(Default)]
pub(super) struct Catalog {
    runs: RwLock<BTreeMap<Arc<str>, Arc<RunEntry>>>,
    /// Number that changes with the set of names.
    names_version: AtomicU64,
}

impl Catalog {
    pub(super) fn add(&self, source: Arc<Source>) {
        let place = source.place();
        let entry = match self.runs.write().entry(place.run) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(free) => {
                self.touch_names();
                Arc::clone(free.insert(Arc::default()))
            }
        };
        let mut sources = entry.sources.write();
        let at = sources.partition_point(|other| other.place().path <= place.path);
        sources.insert(at, source);
        entry.forget();
    }

    pub(super) fn remove(&self, source: &Arc<Source>) {
        let mut runs = self.runs.write();
        let run = source.place().run;
        let Some(entry) = runs.get(&run) else { return };
        let mut sources = entry.sources.write();
        sources.retain(|other| !Arc::ptr_eq(other, source));
        entry.forget();
        let empty = sources.is_empty();
        drop(sources);
        if empty {
            runs.remove(&run);
            self.touch_names();
        }
    }

    pub(super) fn clear(&self) {
        self.runs.write().clear();
        self.touch_names();
    }

    /// Number that changes with the set of names.
    pub(super) fn names_version(&self) -> u64 {
        self.names_version.load(Ordering::Acquire)
    }

    /// Notes that the set of names changes.
    pub(super) fn touch_names(&self) {
        self.names_version.fetch_add(1, Ordering::AcqRel);
    }

    /// Names of all runs with event files, in the order of their bytes.
    pub(super) fn names(&self) -> Vec<Arc<str>> {
        self.runs.read().keys().cloned().collect()
    }

    pub(super) fn run(&self, run: &str) -> Option<Arc<RunEntry>> {
        self.runs.read().get(run).cloned()
    }

    pub(super) fn sources(&self) -> Vec<Arc<Source>> {
        self.runs
            .read()
            .values()
            .flat_map(|entry| entry.sources.read().clone())
            .collect()
    }

    /// Files of each run.
    pub(super) fn sources_of_runs(&self) -> Vec<(Arc<str>, Vec<Arc<Source>>)> {
        let runs = self.runs.read();
        let all = runs.iter();
        all.map(|(id, entry)| (Arc::clone(id), entry.sources()))
            .collect()
    }

    pub(super) fn len(&self) -> usize {
        self.runs.read().len()
    }

    pub(super) fn live_runs(&self) -> usize {
        let now = SystemTime::now();
        self.runs
            .read()
            .values()
            .filter(|entry| entry.is_live(now))
            .count()
    }

    /// Runs with a growing file whose name passes a test.
    pub(super) fn growing_runs(&self, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<Arc<str>> {
        let now = SystemTime::now();
        let sources = self.sources();
        let growing = sources.iter().filter_map(|source| {
            let place = source.place();
            let is_own = place.path.rsplit('/').next().is_some_and(&is_wanted);
            let grows = is_own && source.with_state(|state| is_live(source, state, now));
            grows.then_some(place.run)
        });
        growing.collect()
    }
}

/// True if a training seems to write this file. Files with a single object are written once, and never count.
fn is_live(source: &Source, state: &SourceState, now: SystemTime) -> bool {
    if source.format.is_whole() || state.gone || state.unreadable.is_some() {
        return false;
    }
    let usual_pause = match (state.first_wall_time_secs, state.last_wall_time_secs) {
        (Some(first), Some(last)) if state.records > 1 => {
            Duration::try_from_secs_f64((last - first) / (state.records - 1) as f64)
                .unwrap_or_default()
        }
        _ => Duration::ZERO,
    };
    let window = LIVE.max(usual_pause.saturating_mul(5)).min(LIVE_AT_MOST);
    let Some(modified) = state.modified else {
        return false;
    };
    // A copy has the time of copying; its content is older. Observed growth is enough without the times of records.
    let is_written_now = match state.last_wall_time_secs {
        Some(last) => modified
            .duration_since(SystemTime::UNIX_EPOCH)
            .is_ok_and(|at| (at.as_secs_f64() - last).abs() < window.as_secs_f64()),
        None => state.records == 0,
    };
    // A modification time in the future is due to another clock, not to growth.
    let is_fresh = now.duration_since(modified).is_ok_and(|age| age < window);
    is_fresh && (state.has_grown || is_written_now)
}

fn describe_file(source: &Source, state: &SourceState, now: SystemTime) -> File {
    let damage = state.damage();
    let torn = state.offset < state.fed_bytes;
    let (status, offset, reason) = if let Some(damage) = damage {
        (
            FileStatus::Damaged,
            Some(damage.offset),
            Some(damage.reason.clone()),
        )
    } else if state.gone {
        (
            FileStatus::Gone,
            None,
            Some("the file was removed or renamed; what was read before is still shown".to_owned()),
        )
    } else if let Some(reason) = &state.unreadable {
        (FileStatus::Unreadable, None, Some(reason.clone()))
    } else if torn {
        let reason = "the last record is truncated: its writer was interrupted or is still writing"
            .to_owned();
        (FileStatus::Truncated, Some(state.offset), Some(reason))
    } else if is_live(source, state, now) {
        (FileStatus::Live, None, None)
    } else {
        (FileStatus::Complete, None, None)
    };
    File {
        path: source.place().path.to_string(),
        status,
        offset,
        reason,
        format: source.format.as_str().to_owned(),
        len_bytes: state.len_bytes,
        read_bytes: state.offset,
        records: state.records,
        unread: state
            .unread
            .iter()
            .map(|(kind, n)| (kind.as_str().to_owned(), *n))
            .collect(),
        skipped_records: state.skipped_records,
        lost_records: state.lost_records,
        skipped_bytes: state.damaged_bytes(),
    }
}

/// The lower or the higher of two optional times.
fn of_times(a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(pick(a, b)),
        (time, None) | (None, time) => time,
    }
}

impl RunEntry {
    /// Forgets what was derived from the files before they changed.
    fn forget(&self) {
        *self.facts.lock() = Facts::default();
        self.attempts.lock().clear();
    }

    fn is_live(&self, now: SystemTime) -> bool {
        self.sources
            .read()
            .iter()
            .any(|source| source.with_state(|state| is_live(source, state, now)))
    }

    pub(super) fn sources(&self) -> Vec<Arc<Source>> {
        self.sources.read().clone()
    }

    pub(super) fn has_format(&self, format: Format) -> bool {
        let sources = self.sources.read();
        sources.iter().any(|source| source.format == format)
    }

    /// Its entry in the list of runs.
    pub(super) fn describe(&self, id: &str, now: SystemTime, store: &Store) -> Run {
        let sources = self.sources.read().clone();
        let facts = self.facts(&sources);
        let mut run = Run {
            id: id.to_owned(),
            kinds: facts.kinds,
            ranks: facts.ranks,
            loss: facts
                .loss
                .and_then(|(rank, tag)| self.last_value(rank, &tag, store)),
            metric: facts
                .metric
                .and_then(|(rank, tag)| self.last_value(rank, &tag, store)),
            ..Run::default()
        };
        let (mut live, mut gone) = (false, true);
        let mut of_program = BTreeMap::new();
        for source in &sources {
            let state = source.state();
            live |= is_live(source, &state, now);
            gone &= state.gone;
            for (name, value) in &state.hparams {
                if run.hparams.len() < MAX_HPARAMS || run.hparams.contains_key(name) {
                    run.hparams.insert(name.clone(), value.clone());
                }
            }
            for (name, value) in &state.of_program {
                if run.hparams.len() < MAX_HPARAMS {
                    of_program
                        .entry(name.clone())
                        .or_insert_with(|| value.clone());
                }
            }
            run.first_wall_time_secs = of_times(
                run.first_wall_time_secs,
                state.first_wall_time_secs,
                f64::min,
            );
            run.last_wall_time_secs =
                of_times(run.last_wall_time_secs, state.last_wall_time_secs, f64::max);
            run.last_step = run.last_step.max(state.last_step);
            run.len_bytes += state.len_bytes;
            let file = describe_file(source, &state, now);
            if run.files.len() < MAX_FILES
                || !matches!(file.status, FileStatus::Complete | FileStatus::Live)
            {
                run.files.push(file);
            } else {
                run.files_cut = true;
            }
        }
        for (name, value) in of_program {
            if run.hparams.len() < MAX_HPARAMS {
                run.hparams.entry(name).or_insert(value);
            }
        }
        run.status = match (live, gone) {
            (true, _) => RunStatus::Live,
            (_, true) => RunStatus::Gone,
            _ => RunStatus::Stopped,
        };
        run
    }

    fn facts(&self, sources: &[Arc<Source>]) -> Facts {
        let parts: usize = sources.iter().map(|source| source.parts_len()).sum();
        let mut facts = self.facts.lock();
        if facts.parts == parts {
            return facts.clone();
        }
        let mut tags = BTreeSet::new();
        let mut ranks = BTreeSet::new();
        for source in sources {
            let rank = source.place().rank;
            for part in source.parts() {
                ranks.insert(rank);
                tags.insert((part.kind, Arc::clone(&part.tag), rank));
            }
        }
        let mut kinds = BTreeMap::new();
        let mut before = None;
        for (kind, tag, _) in &tags {
            // Ranks of one tag are adjacent: the tag is counted once.
            if before != Some((kind, tag)) {
                *kinds.entry(kind.as_str().to_owned()).or_default() += 1;
            }
            before = Some((kind, tag));
        }
        let rank_of = |tag: &str| {
            let found = tags
                .iter()
                .find(|(kind, name, _)| *kind == Kind::Scalars && &**name == tag);
            found.map(|(_, name, rank)| (*rank, Arc::clone(name)))
        };
        let scalars = || {
            tags.iter()
                .filter(|(kind, ..)| *kind == Kind::Scalars)
                .map(|(_, name, _)| &**name)
        };
        *facts = Facts {
            parts,
            kinds,
            ranks: ranks.into_iter().collect(),
            loss: headline::loss(scalars()).and_then(rank_of),
            metric: headline::metric(scalars()).and_then(rank_of),
        };
        facts.clone()
    }

    /// Value at the highest live step.
    fn last_value(&self, rank: u32, tag: &str, store: &Store) -> Option<LastValue> {
        let writers = self.writers(rank, Kind::Scalars, tag, store);
        let (step, value) = reader::last_point(&writers.first()?.attempts, store)?;
        Some(LastValue {
            tag: tag.to_owned(),
            rank,
            step,
            value,
        })
    }

    /// The parts of one tag of a kind, grouped by writer.
    pub(super) fn writers(&self, rank: u32, kind: Kind, tag: &str, store: &Store) -> Vec<Writer> {
        let sources = self.sources.read();
        let of_rank: Vec<_> = sources
            .iter()
            .filter(|source| source.place().rank == rank)
            .collect();
        let parts = of_rank
            .iter()
            .filter_map(|source| Some((Arc::clone(source), source.part(kind, tag)?)));
        let starts = attempts::starts(of_rank.iter().copied());
        attempts::group(parts.collect(), &starts, store)
    }

    /// The parts of a scalar, grouped by writer, with one numbering of the attempts for all scalars.
    pub(super) fn numbered_writers(&self, rank: u32, tag: &str, store: &Store) -> Vec<Writer> {
        let mut writers = self.writers(rank, Kind::Scalars, tag, store);
        if writers.iter().any(Writer::has_attempts) {
            let numbers = self.attempts(rank, store);
            for writer in &mut writers {
                writer.renumber(&numbers);
            }
        }
        writers
    }

    /// Numbers of the attempts of a rank by file.
    fn attempts(&self, rank: u32, store: &Store) -> AttemptNumbers {
        let mut sources = self.sources();
        sources.retain(|source| source.place().rank == rank);
        let records = sources.iter();
        let records = records.map(|source| source.with_state(|state| state.records));
        let records = records.sum();
        if let Some((known, numbers)) = self.attempts.lock().get(&rank)
            && *known == records
        {
            return Arc::clone(numbers);
        }
        let mut by_tag = BTreeMap::<_, Vec<_>>::new();
        for source in &sources {
            for part in source.parts() {
                if part.kind == Kind::Scalars {
                    let parts = by_tag.entry(Arc::clone(&part.tag)).or_default();
                    parts.push((Arc::clone(source), part));
                }
            }
        }
        let starts = attempts::starts(&sources);
        let several = by_tag.into_values().filter(|parts| parts.len() > 1);
        let writers = several.flat_map(|parts| attempts::group(parts, &starts, store));
        let files: Vec<_> = writers.map(|writer| writer.files()).collect();
        let numbers = Arc::new(restart::numbers_of_files(&files));
        let known = (records, Arc::clone(&numbers));
        self.attempts.lock().insert(rank, known);
        numbers
    }

    /// All tags of a kind with their ranks, ordered.
    pub(super) fn tags_of(&self, kind: Kind) -> Vec<(Arc<str>, u32)> {
        let mut tags = BTreeSet::new();
        for source in self.sources.read().iter() {
            let rank = source.place().rank;
            let parts = source.parts();
            let wanted = parts.iter().filter(|part| part.kind == kind);
            tags.extend(wanted.map(|part| (Arc::clone(&part.tag), rank)));
        }
        tags.into_iter().collect()
    }

    /// All series of the run.
    pub(super) fn tags(&self, store: &Store) -> TagList {
        let mut by_key = BTreeMap::<_, Vec<_>>::new();
        let mut by_rank = BTreeMap::<u32, Vec<_>>::new();
        for source in self.sources.read().iter() {
            let rank = source.place().rank;
            by_rank.entry(rank).or_default().push(Arc::clone(source));
            for part in source.parts() {
                let key = (Arc::clone(&part.tag), part.kind, rank);
                let parts = by_key.entry(key).or_default();
                parts.push((Arc::clone(source), part));
            }
        }
        let starts: BTreeMap<u32, Vec<_>> = by_rank
            .iter()
            .map(|(rank, sources)| (*rank, attempts::starts(sources)))
            .collect();
        let cut = by_key.len() > MAX_TAGS;
        let mut tags = Vec::with_capacity(by_key.len());
        for ((tag, kind, rank), parts) in by_key.into_iter().take(MAX_TAGS) {
            let starts = starts.get(&rank).map_or(&[][..], Vec::as_slice);
            let writers = attempts::group(parts, starts, store);
            let are_many = writers.len() > 1;
            for writer in writers {
                let live = reader::live_points(&writer.attempts, store);
                let first = writer.attempts.first().filter(|_| are_many);
                tags.push(Tag {
                    tag: tag.to_string(),
                    rank,
                    kind,
                    role: role(kind, &tag),
                    points: live.points,
                    superseded: live.superseded,
                    first_step: live.first_step,
                    last_step: live.last_step,
                    file: first.map(|attempt| attempt.source.place().path.to_string()),
                    writer: writer.name.map(|name| name.to_string()),
                });
            }
        }
        // Ranks and writers of one tag stay in their order.
        tags.sort_by(|a: &Tag, b| natural(&a.tag, &b.tag));
        TagList { tags, cut }
    }
}

/// Role of a tensor by its name; `None` for other kinds.
fn role(kind: Kind, tag: &str) -> Option<Role> {
    matches!(kind, Kind::Histograms | Kind::Statistics | Kind::Tensors)
        .then(|| watchpoint::role_of_name(tag))
        .flatten()
}
