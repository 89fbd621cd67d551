//! A tensor of a run: its history, and the states of the watchpoints for it.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use trainscope_format::tensor::DType;

use super::history::History;
use super::labels::Labels;
use super::missing::Missing;
use super::parameter::Evidence;
use super::subject::Subject;

/// A tensor of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) rank: u32,
    pub(crate) name: Arc<str>,
    pub(crate) op: Arc<str>,
    pub(crate) subject: Subject,
    /// True if the last record calls it frozen: a weight may be frozen in the course of a training.
    pub(crate) is_frozen: bool,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    pub(crate) history: History,
    pub(crate) memories: Vec<Memory>,
    /// Totals over all steps, for labels.
    pub(crate) labels: Labels,
    /// Samples since each `ReLU` unit was last non-zero.
    pub(crate) idle_for: Vec<u64>,
}

/// State of a watchpoint for a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) watchpoint: u32,
    pub(crate) seen: u32,
    pub(crate) streak: u32,
    pub(crate) since: i64,
    pub(crate) evidence: Evidence,
    /// Remaining observations of the cooldown.
    pub(crate) quiet: u32,
    pub(crate) episodes: Vec<Episode>,
    /// Reasons why it was not judged, each with its first step and number of steps.
    pub(crate) missing: Vec<(Missing, i64, u64)>,
}

/// An interval of steps in which a condition was met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Episode {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) evidence: Evidence,
}

/// Tensors in the order of their first record.
#[derive(Clone, Debug, Default)]
pub(crate) struct TensorList {
    pub(crate) all: Vec<Tensor>,
    /// Rank and index of each tensor of a name.
    by_name: HashMap<Arc<str>, Vec<(u32, usize)>, RandomState>,
}

impl TensorList {
    /// Index of the tensor of a rank.
    pub(crate) fn index(&self, rank: u32, name: &str) -> Option<usize> {
        let ranks = self.by_name.get(name)?;
        let of_rank = ranks.iter().find(|entry| entry.0 == rank);
        of_rank.map(|(_, index)| *index)
    }

    /// Appends a tensor and returns its index.
    pub(crate) fn push(&mut self, tensor: Tensor) -> usize {
        let index = self.all.len();
        let ranks = self.by_name.entry(tensor.name.clone()).or_default();
        if ranks.is_empty() {
            ranks.reserve_exact(1);
        }
        ranks.push((tensor.rank, index));
        self.all.push(tensor);
        index
    }
}
