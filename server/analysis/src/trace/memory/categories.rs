//! Bytes by category while they are added up.

use trainscope_api::profile::MemoryCategory;

/// Categories in the order of their layers, and of the columns while they are added up.
pub(super) const CATEGORIES: [MemoryCategory; 9] = [
    MemoryCategory::Parameters,
    MemoryCategory::Optimizer,
    MemoryCategory::Inputs,
    MemoryCategory::Kept,
    MemoryCategory::Gradients,
    MemoryCategory::Activations,
    MemoryCategory::Autograd,
    MemoryCategory::Workspace,
    MemoryCategory::Other,
];

/// Bytes of each of [`CATEGORIES`].
pub(super) type Bytes = [i128; CATEGORIES.len()];

/// Position of a category.
pub(super) fn column(category: MemoryCategory) -> usize {
    let place = CATEGORIES.iter().position(|known| *known == category);
    place.unwrap_or(CATEGORIES.len() - 1)
}

/// Fits columns to the bytes that the file counts: bytes that no category explains are other, and a surplus is taken
/// from the last columns.
pub(super) fn fitted(mut columns: Bytes, allocated: u64) -> Bytes {
    let mut excess = columns.iter().sum::<i128>() - i128::from(allocated);
    for bytes in columns.iter_mut().rev() {
        let less = excess.min(*bytes);
        if excess > 0 && less > 0 {
            *bytes -= less;
            excess -= less;
        }
    }
    columns[CATEGORIES.len() - 1] += (-excess).max(0);
    columns
}
