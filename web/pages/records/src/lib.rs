//! Pages of recorded data: curves, histograms, media, loss landscapes.

#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

mod histograms;
mod landscape;
mod recorded;
mod scalars;

pub use histograms::HistogramsPage;
pub use landscape::LandscapePage;
pub use recorded::RecordedPage;
pub use scalars::ScalarsPage;
