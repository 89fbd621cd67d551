//! Parts of the frame that pages open.

use crate::prelude::*;

/// A panel of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramePanel {
    /// Keyboard shortcuts.
    Help,
    /// Theme, language, live update.
    Settings,
}

/// Open parts of the frame.
#[derive(Clone, Copy)]
pub struct FrameState {
    /// The open panel at the right edge.
    pub panel: RwSignal<Option<FramePanel>>,
    /// Incremented to focus the search field.
    pub focus_search: RwSignal<u64>,
    /// True if the search field covers the bar, if there is no room for both.
    pub searching: RwSignal<bool>,
}

impl FrameState {
    /// Opens a panel, or closes it if it is open.
    pub fn toggle(self, panel: FramePanel) {
        self.panel
            .update(|open| *open = (*open != Some(panel)).then_some(panel));
    }
}
