//! Tensors of a run by name, one per rank.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use super::evaluator::Tensor;

/// Tensors in the order of their first record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) all: Vec<Tensor>,
    /// Rank and index of each tensor of a name.
    #[serde(skip)]
    by_name: HashMap<Arc<str>, Vec<(u32, usize)>, RandomState>,
}

impl Named {
    /// Index of the tensor of a rank.
    pub(crate) fn index(&mut self, rank: u32, name: &str) -> Option<usize> {
        if self.by_name.is_empty() {
            for (index, tensor) in self.all.iter().enumerate() {
                let ranks = self.by_name.entry(tensor.name.clone()).or_default();
                ranks.push((tensor.rank, index));
            }
        }
        let ranks = self.by_name.get(name)?;
        let of_rank = ranks.iter().find(|own| own.0 == rank);
        of_rank.map(|(_, index)| *index)
    }

    /// Appends a tensor and returns its index.
    pub(crate) fn push(&mut self, tensor: Tensor) -> usize {
        let index = self.all.len();
        let ranks = self.by_name.entry(tensor.name.clone()).or_default();
        ranks.push((tensor.rank, index));
        self.all.push(tensor);
        index
    }
}
