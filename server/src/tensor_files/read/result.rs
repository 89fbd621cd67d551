//! The summary of a tensor while its elements are added.

use trainscope_analysis::watchpoint::Needs;
use trainscope_format::formats::tensor_file::StoredTensor;
use trainscope_format::tensor::{
    ChangeStats, ChannelStats, ContentHasher, Select, TensorStats, Tolerance,
};
use trainscope_format::{Role, TensorSummary};

use super::BLOCK_BYTES;

/// Accumulated results of a tensor.
#[derive(Default)]
pub(super) struct TensorResult {
    stats: TensorStats,
    hash: Option<u64>,
    /// Hasher for content in several blocks.
    hasher: Option<ContentHasher>,
    pub(super) change: Option<ChangeStats>,
    pub(super) channels: Option<ChannelStats>,
}

impl TensorResult {
    /// Adds the next elements.
    pub(super) fn add(
        &mut self,
        tensor: &StoredTensor,
        bytes: &[u8],
        before: Option<(&[u8], Tolerance)>,
        needs: &Needs,
    ) {
        let mut select = Select::new().ranges(&needs.ranges);
        if needs.exponents {
            select = select.exponents();
        }
        if let Some((before, tolerance)) = before {
            select = select.change(before, tolerance);
        }
        let seen = select.read(tensor.dtype, bytes);
        if needs.hash && bytes.len() as u64 == tensor.data.len_bytes {
            // Hashing the whole tensor at once needs no copies.
            self.hash = Some(ContentHasher::hash(bytes));
        } else if needs.hash {
            self.hasher.get_or_insert_default().write(bytes);
        }
        if self.stats.count == 0 {
            self.stats = seen.stats;
        } else {
            self.stats.merge(&seen.stats);
        }
        match (&mut self.change, seen.change) {
            (Some(sofar), Some(change)) => sofar.merge(&change),
            (None, change) => self.change = change,
            (Some(_), None) => {}
        }
    }

    /// Adds all elements, with sums rounded as in [`Self::add`] of a block at a time.
    pub(super) fn add_whole(
        &mut self,
        tensor: &StoredTensor,
        bytes: &[u8],
        before: Option<(&[u8], Tolerance)>,
        needs: &Needs,
    ) {
        for at in (0..bytes.len().max(1)).step_by(BLOCK_BYTES) {
            let block = at..bytes.len().min(at + BLOCK_BYTES);
            let before =
                before.and_then(|(bytes, tolerance)| Some((bytes.get(block.clone())?, tolerance)));
            self.add(tensor, &bytes[block], before, needs);
        }
    }

    pub(super) fn finish(self, tensor: StoredTensor) -> TensorSummary {
        TensorSummary {
            role: Role::Other,
            dtype: tensor.dtype,
            shape: tensor.shape,
            stats: self.stats,
            hash: self.hash.or(self.hasher.map(|hasher| hasher.finish())),
            change: self.change,
            channels: self.channels,
        }
    }
}
