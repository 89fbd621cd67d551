//! Passes the content of event files to a listener, in step order where other sources of the run need it.
//!
//! Files are decoded a block at a time; records ahead of the requested step wait in their block: statistics in event
//! files and tensors in dumps come in one order.

use std::path::Path;
use std::sync::Arc;

use trainscope_analysis::watchpoint::Context;
use trainscope_format::{
    Body, Histogram, Record, RecordBatch, SessionStart, Tensor, TensorSummary,
};

use crate::discovery::runs::{EventSource, RunFiles};
use crate::reader::{Block, Buffers, Feeds, Follower};

/// The event files of a run by rank: those of the run, then, marked with `true`, those of runs that evaluate it.
pub(super) fn event_files(run: &RunFiles) -> impl Iterator<Item = (u32, bool, &EventSource)> {
    run.ranks.iter().flat_map(|(&rank, found)| {
        let events = found.events.iter().map(move |source| (rank, false, source));
        let beside = found.evaluations.iter();
        events.chain(beside.map(move |source| (rank, true, source)))
    })
}

/// Receiver of the content of event files.
pub(crate) trait Listener {
    /// A point of a scalar.
    fn scalar(&mut self, rank: u32, tag: &str, step: i64, wall_time_secs: f64, value: f64);
    /// A start of the program that wrote the file.
    fn session_start(&mut self, _rank: u32, _start: SessionStart) {}
    /// The step counter of the program overflowed 32 bits.
    fn step_overflow(&mut self) {}
    fn statistics(&mut self, rank: u32, tag: &Arc<str>, step: i64, summary: &TensorSummary);
    /// A tensor of an unsupported element type.
    fn opaque(&mut self, rank: u32, tag: &str, step: i64, dtype: &str);
    /// A tensor in full, whose elements are in that file or in the record.
    fn tensor(&mut self, _at: At<'_>, _tensor: &Tensor) {}
    /// A histogram of a tensor.
    fn histogram(&mut self, _at: At<'_>, _histogram: &Histogram) {}
    /// Context of the run.
    fn context(&mut self, rank: u32, context: Context<'_>);
}

/// The coordinates of a record.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) rank: u32,
    pub(crate) tag: &'a Arc<str>,
    pub(crate) step: i64,
    /// Path of the file.
    pub(crate) path: &'a Arc<Path>,
    /// Path for display.
    pub(crate) shown: &'a Arc<str>,
}

/// The records of an event file, as a listener needs them.
pub(crate) struct EventRecords {
    pub(crate) rank: u32,
    /// Path for display.
    pub(crate) shown: Arc<str>,
    pub(crate) file: Follower,
    /// Names of scalars for judging: those of evaluations have the folder of their run before the tag.
    scalars: Vec<Arc<str>>,
    evaluates: Option<Arc<str>>,
    /// True if it belongs to another run, which is judged separately: then only its scalars count.
    pub(crate) is_beside: bool,
    /// The last block and the number of its records that were passed on; the others are ahead of the current step.
    block: Option<(Arc<Block>, usize)>,
    /// True if it has tensors, whose order matters.
    pub(crate) has_statistics: bool,
    /// Number of bytes read before the current round; `None` in its first one.
    before_bytes: Option<u64>,
}

impl EventRecords {
    /// The records of a file of a run.
    pub(crate) fn new(
        source: &EventSource,
        rank: u32,
        is_beside: bool,
        feeds: Option<&Feeds>,
    ) -> Self {
        Self {
            rank,
            shown: Arc::clone(&source.shown),
            file: Follower::new(source, feeds),
            scalars: Vec::new(),
            evaluates: source.evaluates.clone(),
            is_beside,
            block: None,
            has_statistics: false,
            before_bytes: None,
        }
    }

    /// Begins a round: with the file of a later walk, if there was one.
    pub(crate) fn begin_round(&mut self, walked: Option<&EventSource>) {
        self.before_bytes = Some(self.file.fed_bytes);
        if let Some(source) = walked {
            self.file.expect(source);
        }
    }

    /// True if blocks were read in this round that follow those of an earlier one.
    pub(crate) fn is_grown(&self) -> bool {
        let before = self.before_bytes;
        before.is_some_and(|before| before < self.file.fed_bytes)
    }

    /// Passes on all records up to and including `step`; all with [`i64::MAX`]. Returns the number of bytes read.
    pub(crate) fn advance(
        &mut self,
        step: i64,
        listener: &mut impl Listener,
        buffers: &mut Buffers,
        progress: &mut dyn FnMut(u64),
    ) {
        loop {
            if let Some((block, done)) = self.block.take() {
                let records = &block.batch.records[done..];
                let records = records.iter().take_while(|record| record.step <= step);
                let shown = records.map(|record| self.show(record, listener)).count();
                if done + shown < block.batch.records.len() {
                    self.block = Some((block, done + shown));
                    return;
                }
                buffers.reuse(block);
            }
            let before = self.file.fed_bytes;
            let Some(block) = self.file.next(buffers) else {
                return;
            };
            progress(self.file.fed_bytes.saturating_sub(before));
            self.show_scalars(&block.batch, listener);
            let done = if self.is_beside {
                block.batch.records.len()
            } else {
                0
            };
            self.block = Some((block, done));
        }
    }

    /// Passes on scalars and session starts at once, since their order does not matter.
    fn show_scalars(&mut self, batch: &RecordBatch, listener: &mut impl Listener) {
        for tag in &batch.new_tags {
            self.scalars.push(match &self.evaluates {
                Some(run) => format!("{run}/{}", tag.name).into(),
                None => Arc::clone(&tag.name),
            });
        }
        for start in &batch.session_starts {
            listener.session_start(self.rank, *start);
        }
        if batch.has_step_overflow {
            listener.step_overflow();
        }
        let scalars = &batch.scalars;
        for at in 0..scalars.len() {
            if let Some(name) = self.scalars.get(scalars.tags[at].0 as usize) {
                listener.scalar(
                    self.rank,
                    name,
                    scalars.steps[at],
                    scalars.wall_times_secs[at],
                    scalars.values[at],
                );
            }
        }
    }

    fn show(&mut self, record: &Record, listener: &mut impl Listener) {
        let Some(tag) = self.file.tags().get(record.tag.0 as usize) else {
            return;
        };
        let at = At {
            rank: self.rank,
            tag: &tag.name,
            step: record.step,
            path: &self.file.path,
            shown: &self.shown,
        };
        match &record.body {
            Body::Tensor(tensor) => {
                self.has_statistics = true;
                listener.tensor(at, tensor);
            }
            Body::Histogram(histogram) => {
                self.has_statistics = true;
                listener.histogram(at, histogram);
            }
            Body::Statistics(summary) => {
                self.has_statistics = true;
                listener.statistics(self.rank, &tag.name, record.step, summary);
            }
            Body::Opaque(tensor) => {
                listener.opaque(self.rank, &tag.name, record.step, &tensor.dtype);
            }
            Body::Text(text) => {
                for text in &text.items {
                    let tag = &*tag.name;
                    listener.context(self.rank, Context::Text { tag, text });
                }
            }
            Body::Lineage(lineage) => listener.context(self.rank, Context::Lineage(lineage)),
            Body::Program(fact) => {
                let step = record.step;
                listener.context(self.rank, Context::Program { step, fact });
            }
            Body::Hparams(hparams) => listener.context(self.rank, Context::Hparams(hparams)),
            Body::Graph(graph) => {
                if let Some(graph) = self.file.graph(*graph) {
                    listener.context(self.rank, Context::Graph(&graph));
                }
            }
            _ => {}
        }
    }
}
