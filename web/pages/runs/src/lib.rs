//! Pages about many runs: the list of runs, lineage, comparison.

#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

mod bulk_notes;
mod compare;
mod lineage;
mod runs;

pub use compare::ComparePage;
pub use lineage::LineagePage;
pub use runs::RunsPage;
