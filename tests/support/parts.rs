//! Selectors of parts of pages that tests of several pages look for.

/// Name of a run in the list of runs.
pub(crate) const RUN_NAME: &str = "tr:not([hidden]) > [role=rowheader] a";
/// The bar over selected runs.
pub(crate) const SELECTION: &str = "[data-part=selection]";
/// The list of hits.
pub(crate) const HITS: &str = "table[aria-label=Hits]";
/// A line of the list.
pub(crate) const HIT: &str = "tr[data-severity]";
/// The selected line.
pub(crate) const SELECTED_HIT: &str = "tr[data-severity][aria-selected=true]";
/// The tensor or scalar of that hit, at the right of the debugger.
pub(crate) const INSPECTOR: &str = "[aria-label='Tensor of the hit']";
/// Values at the pointer of a chart.
pub(crate) const READOUT: &str = "[data-part=readout]";
/// The panel at the right.
pub(crate) const PANEL: &str = "[data-part=panel]";

/// The canvas in the card of a tag.
pub(crate) fn canvas(tag: &str) -> String {
    format!("section[data-tag={tag:?}] canvas[role=img]")
}
