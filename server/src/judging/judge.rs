//! Judges one run: passes the content of all its files to an evaluator, step by step.
//!
//! Tensors of many steps at a time are read on all threads and evaluated in order: the result does not depend on the
//! number of threads. Only summaries are kept in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use trainscope_analysis::diagnosis::{Framework, Remark};
use trainscope_analysis::dump::own_source;
use trainscope_analysis::watchpoint::{
    Context, Damage, Findings, Observation, Surroundings, Watchpoints,
};
use trainscope_api::findings::SharedNames;
use trainscope_api::runs::RunProfile;
use trainscope_format::program::SourceLine;

use super::baseline::GoodProfiles;
use super::events::{EventRecords, Listener as _, event_files};
pub(crate) use super::fault::Fault;
use super::known::{RunSummaries, WindowSummaries};
use super::observer::{Observer, Unreadable};
use super::profiles::JudgedProfiles;
use super::shard::Shard;
use super::shared::SharedFiles;
use super::window::{Item, summaries};
use crate::discovery::runs::{RunFiles, TensorSource};
use crate::discovery::stamp::Stamp;
use crate::reader::Buffers;
use crate::tensor_files::contents::{Content, ListedTensor};
use crate::tensor_files::dumps::DumpGraphs;
use crate::tensor_files::listing;
use crate::tensor_files::read::{Place, Reader, TensorReadError};

/// Number of tensors read before they are evaluated: enough steps that few are read twice for a comparison.
const WINDOW_TENSORS: usize = 64 << 10;
/// The same limit in bytes, for progress.
const WINDOW_BYTES: u64 = 1 << 30;
/// Size below which starting threads takes longer than reading.
const PARALLEL_BYTES: u64 = 4 << 20;

/// A run with its findings.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    pub(crate) name: String,
    /// Path as typed on the command line.
    pub(crate) title: String,
    /// Findings of the evaluator.
    pub(crate) findings: Findings,
    /// Files, or parts of them, that could not be read.
    pub(crate) damaged: Vec<Fault>,
    /// Files with a truncated last record, which may still be written.
    pub(crate) truncated: Vec<Fault>,
    pub(crate) files: u64,
    /// Total size in bytes.
    pub(crate) len_bytes: u64,
    pub(crate) ranks: u64,
    /// Watchpoints in force.
    pub(crate) watchpoints: Watchpoints,
    /// Neighbours of each layer; empty unless requested.
    pub(crate) surroundings: Surroundings,
    /// Remarks on the model and its input.
    pub(crate) remarks: Vec<Remark>,
    /// Duration of the judgement.
    pub(crate) took: Duration,
    /// Files of one step that hold tensors of the same names, the first case of each rank.
    pub(crate) shared: Vec<SharedNames>,
    /// The newest profile in brief.
    pub(crate) profile: Option<RunProfile>,
    /// Source lines in the training's code that compute the tensors with hits, if a graph has them.
    pub(crate) sources: FxHashMap<Arc<str>, SourceLine>,
}

/// Remark on a truncated file that is the newest of its rank.
const MAY_GROW: &str = "; perhaps it is still being written";
/// Remark on a truncated file that is followed by a newer one.
const ENDED: &str = ": its program ended while writing";

/// Input of a judgement in addition to the files of the run.
#[derive(Clone, Default)]
pub(crate) struct Sources {
    /// Profiles to compare with.
    pub(crate) good: Option<Arc<GoodProfiles>>,
    /// Summaries that are there already.
    pub(crate) summaries: Option<RunSummaries>,
}

/// Judges a run on a number of threads. Progress is reported in bytes read.
pub(crate) fn judge(
    run: &RunFiles,
    watchpoints: &Watchpoints,
    threads: usize,
    progress: impl FnMut(u64),
) -> Judgement {
    judge_with(Sources::default(), run, watchpoints, threads, progress)
}

/// Like [`judge`], with further sources.
pub(crate) fn judge_with(
    sources: Sources,
    run: &RunFiles,
    watchpoints: &Watchpoints,
    threads: usize,
    mut progress: impl FnMut(u64),
) -> Judgement {
    let started = Instant::now();
    let mut judging = Judging::new(run, watchpoints.clone(), None);
    judging.profiles = JudgedProfiles::against(sources.good);
    judging.summaries = sources.summaries;
    judging.show(run, |_, _| true, threads, &mut progress);
    let mut judged = judging.judged();
    judged.took = started.elapsed();
    judged
}

/// Computes the summaries of a part of a run, and judges nothing.
pub(crate) fn summarize(
    shard: &Arc<Shard>,
    summaries: RunSummaries,
    run: &RunFiles,
    watchpoints: &Watchpoints,
    threads: usize,
    mut progress: impl FnMut(u64),
) {
    let mut judging = Judging::new(run, watchpoints.clone(), None);
    judging.summaries = Some(summaries);
    judging.shard = Some(Arc::clone(shard));
    let is_wanted = |rank, step| shard.wants(rank, step);
    judging.show(run, is_wanted, threads, &mut progress);
}

/// Location of a tensor, the stamp of its file, its window and its index in it.
type Previous = (Place, Stamp, u64, usize);

/// A judgement in progress.
pub(super) struct Judging {
    observer: Observer,
    pub(super) events: Vec<EventRecords>,
    /// Each tensor at the previous step.
    before: FxHashMap<(u32, Arc<str>), Previous>,
    /// Number of windows.
    window: u64,
    /// The last step of each rank: truncated files there may still be written.
    last_steps: FxHashMap<u32, i64>,
    readers: Vec<Reader>,
    buffers: Buffers,
    orders: FxHashMap<u32, String>,
    /// `MindSpore`'s graphs next to its dumps, by rank.
    graphs: BTreeMap<u32, DumpGraphs>,
    faulty: FxHashSet<Arc<str>>,
    profiles: JudgedProfiles,
    summaries: Option<RunSummaries>,
    /// Steps of which summaries are written, without a judgement.
    shard: Option<Arc<Shard>>,
    pub(super) judged: Judgement,
}

impl Judging {
    pub(super) fn new(
        run: &RunFiles,
        watchpoints: Watchpoints,
        shared: Option<&SharedFiles>,
    ) -> Self {
        let feeds = shared.map(|shared| &shared.feeds);
        let events = event_files(run)
            .map(|(rank, is_beside, source)| EventRecords::new(source, rank, is_beside, feeds));
        let mut judging = Self {
            observer: Observer::new(watchpoints.clone()),
            events: events.collect(),
            before: FxHashMap::default(),
            window: 0,
            last_steps: FxHashMap::default(),
            readers: Vec::new(),
            buffers: Buffers::default(),
            orders: FxHashMap::default(),
            graphs: BTreeMap::new(),
            faulty: FxHashSet::default(),
            profiles: JudgedProfiles::of(shared.map(|shared| shared.profiles.clone())),
            summaries: None,
            shard: None,
            judged: Judgement {
                name: run.name.clone(),
                title: run.title.clone(),
                files: run.files,
                len_bytes: run.len_bytes,
                ranks: run.ranks.len() as u64,
                watchpoints,
                ..Judgement::default()
            },
        };
        judging.read_graphs(run);
        judging
    }

    /// True if records came out of order: then judging again in order may give another result.
    pub(super) fn is_disordered(&self) -> bool {
        self.observer.is_disordered
    }

    /// Neighbours of each layer.
    pub(super) fn surroundings(&self) -> Surroundings {
        self.observer.evaluator.surroundings()
    }

    /// Size of the history, in tensors at steps.
    pub(super) fn weight(&self) -> usize {
        self.observer.evaluator.remembered()
    }

    /// Evaluates the tensors at these steps of these ranks, and all content of event files.
    pub(super) fn show(
        &mut self,
        run: &RunFiles,
        is_wanted: impl Fn(u32, i64) -> bool,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) {
        let last_steps = run
            .ranks
            .iter()
            .filter_map(|(&rank, found)| Some((rank, *found.steps.last_key_value()?.0)));
        self.last_steps = last_steps.collect();
        let mut steps: Vec<i64> = run
            .ranks
            .iter()
            .flat_map(|(&rank, found)| found.steps.keys().map(move |&step| (rank, step)))
            .filter(|&(rank, step)| is_wanted(rank, step))
            .map(|(_, step)| step)
            .collect();
        steps.sort_unstable();
        steps.dedup();

        let mut window = Vec::new();
        let mut bytes = 0;
        for step in steps {
            if window.is_empty() {
                // The context of the model determines the data needed.
                self.advance(step, progress);
            }
            for (&rank, found) in &run.ranks {
                let sources = found.steps.get(&step).filter(|_| is_wanted(rank, step));
                let sources = sources.map(Vec::as_slice).unwrap_or_default();
                bytes += sources.iter().map(|source| source.len_bytes).sum::<u64>();
                for tensors in self.list(rank, step, sources) {
                    self.add(rank, step, tensors, &mut window);
                    if window.len() >= WINDOW_TENSORS {
                        self.read(&mut window, threads, bytes, progress);
                    }
                }
            }
            if window.is_empty() || bytes >= WINDOW_BYTES {
                self.read(&mut window, threads, bytes, progress);
                progress(std::mem::take(&mut bytes));
            }
        }
        self.read(&mut window, threads, bytes, progress);
        progress(bytes);
        if self.shard.is_some() {
            return;
        }
        self.advance(i64::MAX, progress);
        // The loss curve determines the step numbers of profiles.
        self.profiles.judge(run, &mut self.observer.evaluator);
    }

    /// Reads `MindSpore`'s files next to its dumps.
    fn read_graphs(&mut self, run: &RunFiles) {
        for (&rank, found) in &run.ranks {
            let mut faults = Vec::new();
            let graphs = DumpGraphs::read(&found.dump, |path, unread| {
                faults.push((path.to_owned(), unread));
            });
            for (path, unread) in faults {
                let (offset, reason) = unread.offset_and_reason();
                self.judged.damaged.push(Fault {
                    file: path.display().to_string().into(),
                    offset,
                    reason,
                    len_bytes: 0,
                });
            }
            if let Some(order) = graphs.order() {
                let names: Vec<&str> = order.iter().map(String::as_str).collect();
                self.observer
                    .evaluator
                    .context(rank, Context::ExecutionOrder(&names));
            }
            for graph in &graphs.drawn {
                self.observer.context(rank, Context::Graph(graph));
            }
            self.graphs.insert(rank, graphs);
        }
    }

    /// Evaluates the content of event files up to and including this step.
    pub(super) fn advance(&mut self, step: i64, progress: &mut dyn FnMut(u64)) {
        for (number, file) in (0..).zip(&mut self.events) {
            self.observer.evaluator.begin_file(number);
            file.advance(step, &mut self.observer, &mut self.buffers, progress);
        }
        for Unreadable {
            rank,
            step,
            file,
            unread,
        } in std::mem::take(&mut self.observer.unreadable)
        {
            self.unread(rank, step, (&file, 0), unread);
        }
    }

    /// The tensors of a step in parts: one table may have millions, and a part is released once it is judged.
    fn list<'a>(
        &mut self,
        rank: u32,
        step: i64,
        sources: &'a [TensorSource],
    ) -> impl Iterator<Item = Vec<ListedTensor<'a>>> + use<'a> {
        let graphs = self.graphs.entry(rank).or_default();
        let listing = listing::list(sources, graphs);
        self.learn(rank, &listing.execution_order);
        for operator in &listing.overflows {
            let context = Context::OperatorOverflow { step, operator };
            self.observer.evaluator.context(rank, context);
        }
        if let Some(reason) = &listing.unread_overflows {
            let context = Context::OperatorOverflowUnread { step, reason };
            self.observer.evaluator.context(rank, context);
        }
        // The first case of each rank is enough.
        let known = &mut self.judged.shared;
        if let Some(shared) = listing.shared
            && known.iter().all(|known| known.rank != rank)
        {
            known.push(SharedNames {
                rank,
                step,
                ..shared
            });
        }
        for (source, unread) in listing.faults {
            self.unread(rank, step, (&source.shown, source.len_bytes), unread);
        }
        let mut left = listing.tensors;
        left.reverse();
        std::iter::from_fn(move || {
            let mut part = left.split_off(left.len().saturating_sub(WINDOW_TENSORS));
            left.shrink_to_fit();
            part.reverse();
            (!part.is_empty()).then_some(part)
        })
    }

    /// Appends tensors of a step.
    fn add(&mut self, rank: u32, step: i64, tensors: Vec<ListedTensor<'_>>, items: &mut Vec<Item>) {
        // Constants are listed, but not judged: they never change.
        let is_computed = |tensor: &ListedTensor<'_>| !tensor.source.is_constant();
        for tensor in tensors.into_iter().filter(is_computed) {
            let name = tensor.name;
            let needs = self
                .observer
                .evaluator
                .needs(&name, tensor.role, &tensor.op);
            let mut before = None;
            let mut is_next = false;
            let place_in_window = items.len();
            if let (Content::At(place), Some(_)) = (&tensor.content, needs.change) {
                let key = (rank, Arc::clone(&name));
                let stamp = tensor.source.stamp;
                let last = (place.clone(), stamp, self.window, place_in_window);
                if let Some((place, stamp, window, at)) = self.before.insert(key, last) {
                    before = Some((place, stamp));
                    if window == self.window
                        && let Some(last) = items.get_mut(at)
                    {
                        last.next = Some(place_in_window);
                        is_next = true;
                    }
                }
            }
            items.push(Item {
                rank,
                step,
                name,
                op: tensor.op,
                role: tensor.role,
                shown: Arc::clone(&tensor.source.shown),
                stamp: tensor.source.stamp,
                content: tensor.content,
                before,
                next: None,
                is_next,
                needs,
                is_context: self
                    .shard
                    .as_ref()
                    .is_some_and(|shard| !shard.has(rank, step)),
            });
        }
    }

    /// Adds the execution order of modules, if it is new.
    fn learn(&mut self, rank: u32, order: &str) {
        if order.is_empty() || self.orders.get(&rank).is_some_and(|known| known == order) {
            return;
        }
        let names: Vec<&str> = order.split(',').map(str::trim).collect();
        let context = Context::ExecutionOrder(&names);
        self.observer.evaluator.context(rank, context);
        self.orders.insert(rank, order.to_owned());
    }

    /// Reads all items and evaluates them in order.
    fn read(
        &mut self,
        items: &mut Vec<Item>,
        threads: usize,
        bytes: u64,
        progress: &mut dyn FnMut(u64),
    ) {
        let threads = if bytes < PARALLEL_BYTES { 1 } else { threads };
        self.readers.resize_with(threads.max(1), Reader::default);
        let mut known = self.summaries.as_ref().map(|stored| stored.known(items));
        let done = known
            .as_mut()
            .map(WindowSummaries::take)
            .unwrap_or_default();
        let summaries = summaries(items, &mut self.readers, done);
        if let Some((stored, known)) = self.summaries.as_ref().zip(known) {
            stored.put(items, &known, &summaries);
        }
        self.window += 1;
        if self.shard.is_some() {
            items.clear();
            return;
        }
        let mut step = None;
        for (item, summary) in items.drain(..).zip(summaries) {
            if step != Some(item.step) {
                self.advance(item.step, progress);
                step = Some(item.step);
            }
            let summary = match (item.content, summary) {
                (Content::Known(figures), _) => Ok(Box::new(figures.summary())),
                (_, Some(summary)) => summary,
                (_, None) => continue,
            };
            // Recorded statistics take precedence.
            let key = (item.rank, Arc::clone(&item.name));
            let is_known = self.observer.holds(&key, item.step);
            self.observer.is_disordered |= !is_known && self.observer.is_beyond(&key, item.step);
            match summary {
                Ok(_) if is_known => {}
                Ok(mut summary) => {
                    summary.role = item.role;
                    if !self.events.is_empty() {
                        self.observer.dumped.insert(key, item.step);
                    }
                    self.observer.evaluator.observe(&Observation {
                        rank: item.rank,
                        step: item.step,
                        name: &item.name,
                        op: &item.op,
                        summary: &summary,
                        tolerance: item.needs.change.unwrap_or_default(),
                    });
                }
                Err(TensorReadError::Opaque(opaque)) => {
                    let evaluator = &mut self.observer.evaluator;
                    evaluator.unread(item.rank, item.step, &item.name, &opaque.dtype);
                }
                Err(unread) => {
                    let file = (&item.shown, item.stamp.len_bytes);
                    self.unread(item.rank, item.step, file, unread);
                }
            }
        }
    }

    /// Adds one error per file, without consequential ones. At the last step, truncated files may still be written;
    /// with later steps they will not.
    fn unread(&mut self, rank: u32, step: i64, file: (&Arc<str>, u64), unread: TensorReadError) {
        if !self.faulty.insert(Arc::clone(file.0)) {
            return;
        }
        let is_last = self.last_steps.get(&rank) == Some(&step);
        let may_grow = matches!(unread, TensorReadError::Truncated { .. }) && is_last;
        let (offset, mut reason) = unread.offset_and_reason();
        if may_grow {
            reason.push_str(MAY_GROW);
        }
        let faults = if may_grow {
            &mut self.judged.truncated
        } else {
            &mut self.judged.damaged
        };
        faults.push(Fault {
            file: Arc::clone(file.0),
            offset,
            reason,
            len_bytes: file.1,
        });
    }

    /// Result for everything evaluated so far.
    pub(super) fn judged(&self) -> Judgement {
        let mut judged = self.judged.clone();
        for (at, records) in self.events.iter().enumerate() {
            if records.is_beside {
                continue;
            }
            let (shown, file) = (&records.shown, &records.file);
            let fault = |offset, reason: &str| Fault {
                file: Arc::clone(shown),
                offset,
                reason: reason.to_owned(),
                len_bytes: file.fed_bytes,
            };
            let unreadable = file.unreadable.as_deref().map(|reason| fault(0, reason));
            judged.damaged.extend(unreadable);
            let before = judged.damaged.len();
            let damages = file.damages();
            judged
                .damaged
                .extend(damages.map(|damage| fault(damage.offset, &damage.reason)));
            if judged.damaged.len() == before
                && let Some(offset) = file.torn_at()
            {
                let is_later =
                    |other: &EventRecords| other.rank == records.rank && !other.is_beside;
                let has_later = self.events[at + 1..].iter().any(is_later);
                let state = if has_later { ENDED } else { MAY_GROW };
                let reason = format!("the last record is not complete{state}");
                judged.truncated.push(fault(offset, &reason));
            }
        }
        judged.damaged.extend(self.profiles.faults().cloned());
        judged.profile = self.profiles.brief();
        judged.remarks = self.observer.examiner.remarks(self.framework());
        judged.findings = self.observer.evaluator.findings_with(&judged.remarks);
        judged.findings.damage = damage(&judged.damaged);
        judged.findings.is_of_training = !self.observer.recorded.is_empty();
        judged.sources = self.sources(&judged.findings);
        judged
    }

    /// Framework of the training, inferred from files that only its writers use.
    fn framework(&self) -> Framework {
        let ends = |end: &str| self.events.iter().any(|file| file.shown.ends_with(end));
        if !self.graphs.is_empty() || ends("_MS") || ends("_lineage") {
            Framework::MindSpore
        } else if !self.observer.recorded.is_empty() {
            Framework::Collector
        } else if ends(".v2") {
            Framework::Keras
        } else {
            Framework::Python
        }
    }

    fn sources(&self, findings: &Findings) -> FxHashMap<Arc<str>, SourceLine> {
        let drawn = self.graphs.values().flat_map(|graphs| &graphs.drawn);
        let nodes = drawn.flat_map(|graph| &graph.nodes);
        let by_name: FxHashMap<&str, &str> = nodes
            .filter(|node| !node.source.is_empty())
            .map(|node| (&*node.name, &*node.source))
            .collect();
        let mut sources = FxHashMap::default();
        for hit in &findings.hits {
            let node = hit.tensor.split(':').next().unwrap_or_default();
            let source = by_name.get(node).and_then(|source| own_source(source));
            if let Some((file, line)) = source {
                sources.insert(Arc::clone(&hit.tensor), SourceLine::at(file, line));
            }
        }
        sources
    }
}

/// Files with places that could not be read.
fn damage(places: &[Fault]) -> Option<Damage> {
    let files: FxHashSet<&str> = places.iter().map(|fault| &*fault.file).collect();
    let first = places.first()?;
    Some(Damage {
        files: files.len() as u64,
        file: Arc::clone(&first.file),
        offset: first.offset,
        reason: first.reason.clone(),
    })
}
