//! Components shared by several pages.

pub mod browse;
mod card_fault;
mod card_grid;
mod chart;
mod controls;
pub mod download;
pub mod drawing;
mod enlarged;
mod graph;
mod long_name;
mod marked;
mod needs;
mod note;
mod note_fields;
mod panel;
pub mod pointer;
mod popover;
pub mod profile_tabs;
mod row_list;
mod run_chip;
mod severity;
mod state;
mod step_parts;
mod step_range;
pub mod tensor;

pub use crate::icon::{Icon, IconName, fixed_icon};
pub use card_fault::CardFault;
pub use card_grid::{CardGrid, CardSize, MakeCard, Place};
pub use chart::{
    ChartEvents, DistributionChart, Figure, LineChart, Lines, MapChart, Palette, Panel,
    ParallelChart, PointedElement, ProfileChart, ReliefChart, strokes, to_png, use_palette,
};
pub use chart::{blank, line_of};
pub use controls::{Check, FullButton, IconButton, SegOption, Segmented, TextField, ToolButton};
pub use drawing::{Ticket, use_size};
pub use enlarged::is_enlarged;
pub use graph::{
    Colour, GraphCanvas, GraphOverview, Look, NodeGraph, Shade, View, figure_of, first_view,
    hit_at, use_graph_ink,
};
pub use long_name::long_name;
pub use marked::{marked, places};
pub use needs::{Needs, use_may};
pub use note::{Note, NoteKind};
pub use note_fields::{NoteFields, tags_of};
pub use panel::RightPanel;
pub use popover::{MenuItem, Popover};
pub use row_list::{RowHeights, RowList, RowRange};
pub use run_chip::{RunChip, RunStatusLabel};
pub use severity::{health_icon, severity_icon, severity_name};
pub use state::StatePage;
pub use step_parts::{KIND_TOKENS, kinds_of_step, mean_step, step_parts};
pub use step_range::StepRange;
