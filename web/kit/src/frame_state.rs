//! Parts of the frame that pages open.

use crate::prelude::*;

/// Open parts of the frame.
#[derive(Clone, Copy)]
pub struct FrameState {
    /// True if the help panel is open.
    pub help: RwSignal<bool>,
    /// Incremented to focus the search field.
    pub focus_search: RwSignal<u64>,
    /// True if the search field covers the bar, if there is no room for both.
    pub searching: RwSignal<bool>,
}
