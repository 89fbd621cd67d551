//! Judges one run: everything its files hold is shown to an evaluator, step by step.
//!
//! Tensors of many steps at a time are read on all threads and shown in order, so that what is found does not depend
//! on how many threads there are. What is kept of them are summaries; their bytes are not.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use trainscope_analysis::watchpoint::{
    Context, Evaluator, Findings, Needs, Observation, Watchpoints,
};
use trainscope_format::{Role, TensorSummary};

use super::dumps::{self, Content, DumpGraphs};
use super::events::EventFile;
use super::find::{FoundRun, TensorKind, TensorSource};
use super::read::{Place, Reader, Unread, safetensors_header};

/// Tensors read before what they told is shown.
const WINDOW_TENSORS: usize = 8 << 10;
/// And bytes, so that progress can be told.
const WINDOW_BYTES: u64 = 256 << 20;
/// Below this, starting threads takes longer than reading.
const PARALLEL_BYTES: u64 = 4 << 20;

/// A run and what was found in it.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct JudgedRun {
    /// The name of the run.
    pub(in crate::cli) name: String,
    /// As it would be typed.
    pub(in crate::cli) title: String,
    /// What the evaluator says.
    pub(in crate::cli) findings: Findings,
    /// Files, or parts of them, that could not be read.
    pub(in crate::cli) damaged: Vec<Fault>,
    /// Files whose last record is cut off: they may still be written.
    pub(in crate::cli) truncated: Vec<Fault>,
    /// How many files it has.
    pub(in crate::cli) files: u64,
    /// Their length.
    pub(in crate::cli) len_bytes: u64,
    /// How many ranks it has.
    pub(in crate::cli) ranks: u64,
    /// How long it took.
    pub(in crate::cli) took: Duration,
}

/// A place in a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Fault {
    /// Relative to the folder that was given.
    pub(in crate::cli) file: Arc<str>,
    /// In bytes from the start of the file.
    pub(in crate::cli) offset: u64,
    /// What is wrong, as a sentence without the file's name.
    pub(in crate::cli) reason: String,
    /// How long the file is.
    pub(in crate::cli) len_bytes: u64,
}

/// A tensor of a step, before it is read.
struct Item {
    rank: u32,
    step: i64,
    name: Arc<str>,
    op: Arc<str>,
    role: Role,
    shown: Arc<str>,
    len_bytes: u64,
    place: Place,
    /// What is known of it, if that is all there is.
    known: Option<Box<TensorSummary>>,
    before: Option<Place>,
    needs: Needs,
}

/// A file with tensors, and whose they are.
#[derive(Clone, Copy)]
struct File<'a> {
    rank: u32,
    step: i64,
    source: &'a TensorSource,
}

/// Judges a run on so many threads.
pub(in crate::cli) fn judge(
    run: &FoundRun,
    watchpoints: &Watchpoints,
    threads: usize,
    mut progress: impl FnMut(u64),
) -> JudgedRun {
    let started = Instant::now();
    let mut judging = Judging::new(run, watchpoints.clone());
    judging.read_graphs(run);
    let mut steps: Vec<i64> = run
        .ranks
        .values()
        .flat_map(|rank| rank.steps.keys().copied())
        .collect();
    steps.sort_unstable();
    steps.dedup();

    let mut window = Vec::new();
    let mut bytes = 0;
    for step in steps {
        if window.is_empty() {
            // What is known of the model decides what is needed.
            judging.advance(step);
        }
        for (&rank, found) in &run.ranks {
            let sources = found
                .steps
                .get(&step)
                .map(Vec::as_slice)
                .unwrap_or_default();
            judging.list(rank, step, sources, &mut window);
            bytes += sources.iter().map(|source| source.len_bytes).sum::<u64>();
        }
        if window.len() >= WINDOW_TENSORS || bytes >= WINDOW_BYTES {
            judging.read(&mut window, threads, bytes);
            progress(std::mem::take(&mut bytes));
        }
    }
    judging.read(&mut window, threads, bytes);
    judging.advance(i64::MAX);
    let mut judged = judging.finish();
    judged.took = started.elapsed();
    judged
}

struct Judging {
    evaluator: Evaluator,
    events: Vec<EventFile>,
    /// Where each tensor was at the step before.
    before: FxHashMap<(u32, Arc<str>), Place>,
    /// The last step of each rank: what is cut there may still be written.
    last_steps: FxHashMap<u32, i64>,
    readers: Vec<Reader>,
    buffer: Vec<u8>,
    orders: FxHashMap<u32, String>,
    /// What `MindSpore` wrote beside its dumps, by rank.
    graphs: BTreeMap<u32, DumpGraphs>,
    faulty: FxHashSet<Arc<str>>,
    judged: JudgedRun,
}

impl Judging {
    fn new(run: &FoundRun, watchpoints: Watchpoints) -> Self {
        let events = run.ranks.iter().flat_map(|(&rank, found)| {
            let open = move |source| EventFile::open(source, rank);
            found.events.iter().map(open)
        });
        let last_steps = run
            .ranks
            .iter()
            .filter_map(|(&rank, found)| Some((rank, *found.steps.last_key_value()?.0)));
        Self {
            evaluator: Evaluator::new(watchpoints),
            events: events.collect(),
            before: FxHashMap::default(),
            last_steps: last_steps.collect(),
            readers: Vec::new(),
            buffer: Vec::new(),
            orders: FxHashMap::default(),
            graphs: BTreeMap::new(),
            faulty: FxHashSet::default(),
            judged: JudgedRun {
                name: run.name.clone(),
                title: run.title.clone(),
                files: run.files,
                len_bytes: run.len_bytes,
                ranks: run.ranks.len() as u64,
                ..JudgedRun::default()
            },
        }
    }

    /// Reads and shows what `MindSpore` has written beside its dumps.
    fn read_graphs(&mut self, run: &FoundRun) {
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
                self.evaluator
                    .context(rank, Context::ExecutionOrder(&names));
            }
            for graph in &graphs.drawn {
                self.evaluator.context(rank, Context::Graph(graph));
            }
            self.graphs.insert(rank, graphs);
        }
    }

    /// Shows what event files hold up to and with this step.
    fn advance(&mut self, step: i64) {
        for file in &mut self.events {
            file.advance(step, &mut self.evaluator, &mut self.buffer);
        }
    }

    /// Appends the tensors of a step.
    fn list(&mut self, rank: u32, step: i64, sources: &[TensorSource], items: &mut Vec<Item>) {
        let mut dumped: BTreeMap<u32, Vec<&TensorSource>> = BTreeMap::new();
        for source in sources {
            let file = File { rank, step, source };
            match &source.kind {
                TensorKind::Safetensors { prefix } => self.list_safetensors(file, prefix, items),
                TensorKind::Npy { name } => {
                    let content = Content::File(None);
                    items.push(self.item(file, name.clone(), "", Role::Other, content));
                }
                TensorKind::Dumped { graph } => dumped.entry(*graph).or_default().push(source),
            }
        }
        for (graph, sources) in dumped {
            let graphs = self.graphs.entry(rank).or_default();
            let iteration = dumps::iteration(graph, &sources, graphs);
            for operator in &iteration.overflows {
                let context = Context::OperatorOverflow { step, operator };
                self.evaluator.context(rank, context);
            }
            if let Some(reason) = &iteration.unread_overflows {
                let context = Context::OperatorOverflowUnread { step, reason };
                self.evaluator.context(rank, context);
            }
            for (source, unread) in iteration.faults {
                self.unread(rank, step, source, unread);
            }
            for listed in iteration.tensors {
                let role = if listed.is_only_read {
                    Role::FrozenWeight
                } else {
                    Role::Other
                };
                let source = listed.source;
                let file = File { rank, step, source };
                items.push(self.item(file, listed.name, &listed.op, role, listed.content));
            }
        }
    }

    fn list_safetensors(&mut self, file: File<'_>, prefix: &str, items: &mut Vec<Item>) {
        let File { rank, step, source } = file;
        let header = match safetensors_header(&source.path) {
            Ok((header, _)) => header,
            Err(unread) => return self.unread(rank, step, source, unread),
        };
        self.learn(rank, &header.metadata);
        for refused in header.refused {
            let name = refused.name;
            let reason = format!("the tensor {name} is not read: {}", refused.reason);
            self.fault(rank, step, source, refused.offset, reason, false);
        }
        let path: Arc<Path> = source.path.as_path().into();
        for mut tensor in header.tensors {
            let name = format!("{prefix}{}", std::mem::take(&mut tensor.name));
            let place = Place {
                path: Arc::clone(&path),
                tensor: Some(tensor),
                dtype: None,
            };
            items.push(self.item_at(file, name, "", Role::Other, place));
        }
    }

    fn item(
        &mut self,
        file: File<'_>,
        name: String,
        op: &str,
        role: Role,
        content: Content,
    ) -> Item {
        let place = Place {
            path: file.source.path.as_path().into(),
            tensor: None,
            dtype: match content {
                Content::File(dtype) => dtype,
                Content::Known(_) => None,
            },
        };
        let mut item = self.item_at(file, name, op, role, place);
        if let Content::Known(summary) = content {
            item.known = Some(summary);
        }
        item
    }

    fn item_at(
        &mut self,
        file: File<'_>,
        name: String,
        op: &str,
        role: Role,
        place: Place,
    ) -> Item {
        let name: Arc<str> = name.into();
        let needs = self.evaluator.needs(&name, role, op);
        let before = self
            .before
            .insert((file.rank, Arc::clone(&name)), place.clone());
        Item {
            rank: file.rank,
            step: file.step,
            name,
            op: op.into(),
            role,
            shown: Arc::clone(&file.source.shown),
            len_bytes: file.source.len_bytes,
            place,
            known: None,
            before: before.filter(|_| needs.change.is_some()),
            needs,
        }
    }

    /// What a file says of the run beside its tensors.
    fn learn(&mut self, rank: u32, metadata: &[(String, String)]) {
        let order = metadata.iter().find(|(key, _)| key == "execution_order");
        let Some((_, order)) = order else { return };
        if self.orders.get(&rank) != Some(order) {
            let names: Vec<&str> = order.split(',').map(str::trim).collect();
            self.evaluator
                .context(rank, Context::ExecutionOrder(&names));
            self.orders.insert(rank, order.clone());
        }
    }

    /// Reads all of them and shows them in order.
    fn read(&mut self, items: &mut Vec<Item>, threads: usize, bytes: u64) {
        let threads = if bytes < PARALLEL_BYTES { 1 } else { threads };
        self.readers.resize_with(threads.max(1), Reader::default);
        let summaries = summaries(items, &mut self.readers);
        let mut step = None;
        for (item, summary) in items.drain(..).zip(summaries) {
            if step != Some(item.step) {
                self.advance(item.step);
                step = Some(item.step);
            }
            match summary {
                Ok(mut summary) => {
                    summary.role = item.role;
                    self.evaluator.observe(&Observation {
                        rank: item.rank,
                        step: item.step,
                        name: &item.name,
                        op: &item.op,
                        summary: &summary,
                        tolerance: item.needs.change.unwrap_or_default(),
                    });
                }
                Err(unread) => {
                    let source = TensorSource {
                        path: item.place.path.to_path_buf(),
                        shown: item.shown,
                        kind: TensorKind::Npy {
                            name: String::new(),
                        },
                        len_bytes: item.len_bytes,
                    };
                    self.unread(item.rank, item.step, &source, unread);
                }
            }
        }
    }

    /// One fault a file: what follows from it is not news.
    fn unread(&mut self, rank: u32, step: i64, source: &TensorSource, unread: Unread) {
        if !self.faulty.insert(Arc::clone(&source.shown)) {
            return;
        }
        let is_cut = matches!(unread, Unread::Truncated { .. });
        let (offset, reason) = unread.offset_and_reason();
        self.fault(rank, step, source, offset, reason, is_cut);
    }

    /// The last step may still be written; where others came after it, what is missing will not come.
    fn fault(
        &mut self,
        rank: u32,
        step: i64,
        source: &TensorSource,
        offset: u64,
        reason: String,
        is_cut: bool,
    ) {
        let is_last = self.last_steps.get(&rank) == Some(&step);
        let faults = if is_cut && is_last {
            &mut self.judged.truncated
        } else {
            &mut self.judged.damaged
        };
        faults.push(Fault {
            file: Arc::clone(&source.shown),
            offset,
            reason,
            len_bytes: source.len_bytes,
        });
    }

    fn finish(mut self) -> JudgedRun {
        for file in &mut self.events {
            let fault = |offset, reason| Fault {
                file: Arc::clone(file.shown()),
                offset,
                reason,
                len_bytes: file.len_bytes(),
            };
            if let Some(reason) = &file.unreadable {
                self.judged.damaged.push(fault(0, reason.clone()));
            }
            for damage in &file.damages {
                let reason = damage.reason.clone();
                self.judged.damaged.push(fault(damage.offset, reason));
            }
            if file.damages.is_empty()
                && let Some(offset) = file.torn_at()
            {
                let reason = "the last record is not complete".to_owned();
                self.judged.truncated.push(fault(offset, reason));
            }
        }
        self.judged.findings = self.evaluator.findings();
        self.judged
    }
}

/// What is known of each, in order.
fn summaries(items: &[Item], readers: &mut [Reader]) -> Vec<Result<TensorSummary, Unread>> {
    let read = |reader: &mut Reader, item: &Item| match &item.known {
        Some(known) => Ok(known.as_ref().clone()),
        None => reader.summary(&item.place, item.before.as_ref(), item.needs),
    };
    if let [reader] = readers {
        return items.iter().map(|item| read(reader, item)).collect();
    }
    let next = AtomicUsize::new(0);
    let mut done: Vec<Option<Result<TensorSummary, Unread>>> = Vec::new();
    done.resize_with(items.len(), || None);
    std::thread::scope(|scope| {
        let threads: Vec<_> = readers
            .iter_mut()
            .map(|reader| {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    while let at = next.fetch_add(1, Ordering::Relaxed)
                        && let Some(item) = items.get(at)
                    {
                        mine.push((at, read(reader, item)));
                    }
                    mine
                })
            })
            .collect();
        for thread in threads {
            for (at, summary) in thread.join().unwrap_or_default() {
                done[at] = Some(summary);
            }
        }
    });
    let lost = || Unread::Damaged {
        offset: 0,
        reason: "it could not be read".to_owned(),
    };
    let all = done.into_iter();
    all.map(|summary| summary.unwrap_or_else(|| Err(lost())))
        .collect()
}
