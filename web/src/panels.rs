//! Panels of the frame at the right edge: help and settings. Their code is loaded when the first of them opens.

use trainscope_web_kit::frame_state::{FramePanel, FrameState};
use trainscope_web_kit::prelude::*;

mod help;
mod settings;

use help::HelpPanel;
use settings::SettingsPanel;

/// The open panel.
#[component]
pub fn OpenPanel() -> impl IntoView {
    let frame: FrameState = expect_context();
    move || match frame.panel.get() {
        Some(FramePanel::Help) => view! { <HelpPanel /> }.into_any(),
        Some(FramePanel::Settings) => view! { <SettingsPanel /> }.into_any(),
        None => ().into_any(),
    }
}
