//! An evaluator with the history of event files: points, statistics, tensors in full, histograms.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trainscope_analysis::diagnosis::Examiner;
use trainscope_analysis::watchpoint::{Context, Evaluator, Observation, Watchpoints};
use trainscope_format::formats::tensor_file::StoredTensor;
use trainscope_format::tensor::Tolerance;
use trainscope_format::{
    Histogram, Role, SessionStart, Stretch, Tensor, TensorData, TensorSummary,
};

use super::events::{At, Listener};
use crate::tensor_files::read::{Before, Place, Reader, TensorReadError};

/// Number of remembered steps of each tensor in event files: a dump of one of them may follow.
const REMEMBERED_STEPS: usize = 256;

/// A rank and the name of a tensor.
type Key = (u32, Arc<str>);

/// An evaluator with the history of event files.
pub(super) struct Observer {
    pub(super) evaluator: Evaluator,
    pub(super) examiner: Examiner,
    /// Steps with recorded statistics of each tensor.
    pub(super) recorded: FxHashMap<Key, RecentSteps>,
    /// Steps with each tensor in full.
    in_full: FxHashMap<Key, RecentSteps>,
    /// Location of each of these at its last step.
    before: FxHashMap<Key, Place>,
    /// The last step of each tensor read from a dump, if there are event files as well.
    pub(super) dumped: FxHashMap<Key, i64>,
    /// True if records came out of order.
    pub(super) is_disordered: bool,
    /// Unreadable tensors, to be reported as errors of their files.
    pub(super) unreadable: Vec<Unreadable>,
    reader: Reader,
}

/// A tensor of an event file that could not be read.
pub(super) struct Unreadable {
    pub(super) rank: u32,
    pub(super) step: i64,
    pub(super) file: Arc<str>,
    pub(super) unread: TensorReadError,
}

/// The newest steps with recorded statistics of a tensor: a dump of one of them may follow.
#[derive(Default)]
pub(super) struct RecentSteps(VecDeque<i64>);

impl RecentSteps {
    fn push(&mut self, step: i64) {
        if self.0.len() == REMEMBERED_STEPS {
            self.0.pop_front();
        }
        self.0.push_back(step);
    }

    fn holds(&self, step: i64) -> bool {
        self.0.iter().rev().any(|&held| held == step)
    }

    /// True if a later step was recorded already.
    fn is_beyond(&self, step: i64) -> bool {
        self.0.back().is_some_and(|&last| last > step)
    }
}

impl Observer {
    pub(super) fn new(watchpoints: Watchpoints) -> Self {
        Self {
            evaluator: Evaluator::new(watchpoints),
            examiner: Examiner::default(),
            recorded: FxHashMap::default(),
            in_full: FxHashMap::default(),
            before: FxHashMap::default(),
            dumped: FxHashMap::default(),
            is_disordered: false,
            unreadable: Vec::new(),
            reader: Reader::default(),
        }
    }

    /// True if an event file has the tensor at a step.
    pub(super) fn holds(&self, key: &Key, step: i64) -> bool {
        self.any(key, |recorded| recorded.holds(step))
    }

    /// True if an event file has the tensor at a later step.
    pub(super) fn is_beyond(&self, key: &Key, step: i64) -> bool {
        self.any(key, |recorded| recorded.is_beyond(step))
    }

    fn any(&self, key: &Key, is_so: impl Fn(&RecentSteps) -> bool) -> bool {
        let all = [self.recorded.get(key), self.in_full.get(key)];
        all.into_iter().flatten().any(is_so)
    }

    /// Judges a tensor and adds it to the history.
    fn observe(&mut self, key: &Key, step: i64, summary: &TensorSummary, tolerance: Tolerance) {
        self.is_disordered |= self.dumped.get(key).is_some_and(|&last| last >= step);
        self.evaluator.observe(&Observation {
            rank: key.0,
            step,
            name: &key.1,
            op: "",
            summary,
            tolerance,
        });
    }
}

impl Listener for Observer {
    fn scalar(&mut self, rank: u32, tag: &str, step: i64, wall_time_secs: f64, value: f64) {
        self.evaluator
            .scalar(rank, tag, step, wall_time_secs, value);
    }

    fn session_start(&mut self, rank: u32, start: SessionStart) {
        self.evaluator.session_start(rank, start);
    }

    fn step_overflow(&mut self) {
        self.evaluator.step_overflow();
    }

    fn statistics(&mut self, rank: u32, tag: &Arc<str>, step: i64, summary: &TensorSummary) {
        let key = (rank, Arc::clone(tag));
        let in_full = self.in_full.get(&key);
        if in_full.is_some_and(|recorded| recorded.holds(step)) {
            return;
        }
        self.recorded.entry(key.clone()).or_default().push(step);
        self.observe(&key, step, summary, Tolerance::default());
    }

    /// Reads a tensor in place, block by block. Earlier statistics of the same step take precedence.
    fn tensor(&mut self, at: At<'_>, tensor: &Tensor) {
        let key = (at.rank, Arc::clone(at.tag));
        let recorded = self.recorded.get(&key);
        if recorded.is_some_and(|recorded| recorded.holds(at.step)) {
            return;
        }
        let needs = self.evaluator.needs(at.tag, Role::Other, "");
        let mut stored = StoredTensor {
            name: String::new(),
            dtype: tensor.dtype,
            shape: tensor.shape.clone(),
            data: Stretch::default(),
            is_big_endian: false,
            is_column_major: false,
        };
        let summary = match &tensor.data {
            TensorData::Stretch(data) => {
                stored.data = *data;
                let place = Place {
                    path: Arc::clone(at.path),
                    tensor: Some(stored),
                    dtype: None,
                };
                let before = self.before.get(&key).filter(|_| needs.change.is_some());
                let before = before.map_or(Before::Nothing, Before::At);
                let summary = self.reader.summary(&place, before, &needs, false);
                if needs.change.is_some() {
                    self.before.insert(key.clone(), place);
                }
                summary
            }
            TensorData::Inline(bytes) => Reader::summary_of_inline(stored, bytes, &needs),
        };
        match summary {
            Ok(summary) => {
                self.in_full.entry(key.clone()).or_default().push(at.step);
                let tolerance = needs.change.unwrap_or_default();
                self.observe(&key, at.step, &summary, tolerance);
            }
            Err(unread) => self.unreadable.push(Unreadable {
                rank: at.rank,
                step: at.step,
                file: Arc::clone(at.shown),
                unread,
            }),
        }
    }

    fn histogram(&mut self, at: At<'_>, histogram: &Histogram) {
        self.evaluator
            .histogram(at.rank, at.tag, at.step, histogram);
    }

    fn opaque(&mut self, rank: u32, tag: &str, step: i64, dtype: &str) {
        self.evaluator.unread(rank, step, tag, dtype);
    }

    fn context(&mut self, rank: u32, context: Context<'_>) {
        self.examiner.learn(rank, &context);
        self.evaluator.context(rank, context);
    }
}
