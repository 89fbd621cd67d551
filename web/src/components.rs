//! Parts that several pages are made of.

pub(crate) mod browse;
mod chart;
mod controls;
mod icon;
mod note;
mod panel;
mod run_chip;
mod severity;
mod state;

pub use chart::{ChartEvents, Figure, LineChart, Palette, to_png, use_palette};
pub use controls::{Check, IconButton, SegOption, Segmented, ToolButton};
pub use icon::{Icon, IconName, fixed_icon};
pub use note::{Note, NoteKind};
pub use panel::RightPanel;
pub use run_chip::{RunChip, RunStatusLabel, short_name, split_name};
pub use severity::severity_icon;
pub use state::StatePage;
