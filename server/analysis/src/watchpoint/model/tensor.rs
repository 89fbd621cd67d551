//! A tensor of a run: its history, and the states of the watchpoints for it.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash};
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use trainscope_format::tensor::{ChannelStats, DType};

use super::history::History;
use super::labels::Labels;
use super::missing::Missing;
use super::parameter::Evidence;
use super::subject::Subject;

/// A tensor of a rank. Tables of dumps hold millions of tensors of one step, so it is small: what few tensors have is
/// boxed, what many have is shared.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) rank: u32,
    pub(crate) name: Arc<str>,
    pub(crate) op: Arc<str>,
    pub(crate) subject: Subject,
    /// True if the last record calls it frozen: a weight may be frozen in the course of a training.
    pub(crate) is_frozen: bool,
    pub(crate) dtype: DType,
    pub(crate) shape: Arc<[u64]>,
    pub(crate) history: History,
    /// Watchpoints with a formula that judge it, by index.
    pub(crate) watching: Arc<[u32]>,
    /// States of those with results, a streak or a first step; the others passed at every step.
    pub(crate) memories: Vec<Memory>,
    /// Totals over all steps, of labels alone.
    pub(crate) labels: Option<Box<Labels>>,
    /// Samples since each `ReLU` unit was last non-zero.
    pub(crate) idle_for: Box<[u64]>,
}

/// State of a watchpoint for a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) watchpoint: u32,
    pub(crate) seen: u32,
    pub(crate) streak: u32,
    /// Remaining observations of the cooldown.
    pub(crate) quiet: u32,
    /// Hits, once there are any: most tensors have none.
    pub(crate) hits: Option<Box<Hits>>,
    /// Reasons why it was not judged, each with its first step and number of steps.
    pub(crate) missing: Vec<(Missing, i64, u64)>,
}

/// Hits of a watchpoint for a tensor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    /// First step of the current streak, and its evidence.
    pub(crate) since: i64,
    pub(crate) evidence: Evidence,
    pub(crate) episodes: Vec<Episode>,
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
    /// Indices by rank and name.
    by_name: HashTable<u32>,
    hasher: RandomState,
    ops: HashSet<Arc<str>, RandomState>,
    shapes: HashSet<Arc<[u64]>, RandomState>,
    watchings: HashSet<Arc<[u32]>, RandomState>,
}

/// Minimum number of idle samples of a unit: fewer may be chance.
const IDLE_SAMPLES: u64 = 40;

impl Tensor {
    /// The share of units that have been zero for too many samples to be chance.
    pub(crate) fn note_idle(&mut self, channels: &ChannelStats) -> f32 {
        if self.idle_for.len() != channels.len() {
            self.idle_for = vec![0; channels.len()].into();
        }
        let mut idle = 0_u64;
        for (samples, zero) in self.idle_for.iter_mut().zip(&channels.zero) {
            let is_idle = *zero == channels.count;
            *samples = if is_idle {
                samples.saturating_add(channels.count)
            } else {
                0
            };
            idle += u64::from(*samples >= IDLE_SAMPLES);
        }
        super::history::share(idle, channels.len() as u64)
    }
}

impl Memory {
    /// The state after a number of steps that passed.
    pub(crate) fn new(watchpoint: u32, seen: u32) -> Self {
        Self {
            watchpoint,
            seen,
            streak: 0,
            quiet: 0,
            hits: None,
            missing: Vec::new(),
        }
    }

    /// True for the state of [`Self::new`].
    pub(crate) fn is_blank(&self) -> bool {
        self.streak == 0 && self.quiet == 0 && self.hits.is_none() && self.missing.is_empty()
    }

    pub(crate) fn episodes(&self) -> &[Episode] {
        self.hits.as_ref().map_or(&[], |hits| &hits.episodes)
    }
}

impl TensorList {
    /// Index of the tensor of a rank.
    pub(crate) fn index(&self, rank: u32, name: &str) -> Option<usize> {
        let is_it = |&index: &u32| {
            let tensor = self.all.get(index as usize);
            tensor.is_some_and(|tensor| tensor.rank == rank && *tensor.name == *name)
        };
        let found = self.by_name.find(self.hasher.hash_one((rank, name)), is_it);
        found.map(|&index| index as usize)
    }

    /// Appends a tensor and returns its index.
    pub(crate) fn push(&mut self, mut tensor: Tensor) -> usize {
        let index = self.all.len();
        share(&mut self.ops, &mut tensor.op);
        share(&mut self.shapes, &mut tensor.shape);
        share(&mut self.watchings, &mut tensor.watching);
        if tensor.subject.module == tensor.name {
            tensor.subject.module = Arc::clone(&tensor.name);
        }
        let hash = |tensor: &Tensor| self.hasher.hash_one((tensor.rank, &*tensor.name));
        self.by_name.insert_unique(
            hash(&tensor),
            u32::try_from(index).unwrap_or(u32::MAX),
            |&other| self.all.get(other as usize).map_or(0, hash),
        );
        self.all.push(tensor);
        index
    }
}

/// Replaces a value by an equal known one.
fn share<T: ?Sized + Eq + Hash>(known: &mut HashSet<Arc<T>, RandomState>, value: &mut Arc<T>) {
    if let Some(shared) = known.get(value) {
        *value = Arc::clone(shared);
    } else {
        known.insert(Arc::clone(value));
    }
}
