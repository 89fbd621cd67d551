//! Parameters of addresses that several pages read, and those that links of one page set on another.
//!
//! The name of a constant is that of its page where another page has a parameter of the same name.

use crate::url_state::{Key, Setting};

mod area;

pub use area::Area;

/// Runs of the page; the first one is the baseline of a comparison.
pub const RUNS: Setting<Vec<String>> = Key::new("runs").or(Vec::new());
/// Text of a filter or search.
pub const SEARCH: Setting<String> = Key::new("q").or(String::new());
/// Tag whose card is brought into view.
pub const TAG: Key<String> = Key::new("tag");
/// Tag of the card that fills the page.
pub const FULL: Key<String> = Key::new("full");
pub const TENSOR: Key<String> = Key::new("tensor");
pub const RANK: Key<u32> = Key::new("rank");
pub const STEP: Key<i64> = Key::new("step");

/// Content of the right panel of the list of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsPanel {
    /// Instructions for recording.
    Record,
    /// Choice of columns.
    Columns,
    /// The files of a run.
    Files(String),
}

pub const RUNS_PANEL: Key<RunsPanel> = Key::with(
    "panel",
    |text| match text {
        "record" => Some(RunsPanel::Record),
        "columns" => Some(RunsPanel::Columns),
        _ => Some(RunsPanel::Files(text.strip_prefix("files:")?.to_owned())),
    },
    |panel| match panel {
        RunsPanel::Record => "record".to_owned(),
        RunsPanel::Columns => "columns".to_owned(),
        RunsPanel::Files(run) => format!("files:{run}"),
    },
);

/// Run whose line and row are brought into view.
pub const LINEAGE_FOCUS: Key<String> = Key::new("focus");

/// Range of x of all cards.
pub const SCALARS_RANGE: Key<(f64, f64)> = Key::with(
    "range",
    |text| {
        let (low, high) = text.split_once(',')?;
        number_range(low, high)
    },
    |(low, high)| format!("{low},{high}"),
);
/// Initial step of the crosshair.
pub const SCALARS_AT: Key<f64> = Key::new("at");

/// A range of finite numbers; `None` if it is empty.
pub fn number_range(low: &str, high: &str) -> Option<(f64, f64)> {
    let number = crate::format::parse_number;
    let (low, high) = (number(low)?, number(high)?);
    (low < high).then_some((low, high))
}

/// Step of the values on the page of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorStep {
    /// The memory of a training that waits.
    Now,
    Recorded(i64),
}

pub const TENSOR_STEP: Key<TensorStep> = Key::with(
    "step",
    |text| match text {
        "now" => Some(TensorStep::Now),
        _ => Some(TensorStep::Recorded(text.parse().ok()?)),
    },
    |step| match step {
        TensorStep::Now => "now".to_owned(),
        TensorStep::Recorded(step) => step.to_string(),
    },
);
/// The other side of a comparison of tensors, as the server reads it.
pub const TENSOR_COMPARE: Key<String> = Key::new("compare");

/// Key of the selected hit.
pub const HIT: Key<String> = Key::new("hit");
/// Name of the chosen watchpoint.
pub const WATCHPOINT: Key<String> = Key::new("watchpoint");
/// Steps of the listed hits, as typed.
pub const HIT_STEPS: Setting<String> = Key::new("steps").or(String::new());

/// Selected node of the graph.
pub const NODE: Key<String> = Key::new("node");
/// Run of the first graph next to that of the page.
pub const GRAPH_BASE: Key<String> = Key::new("base");
/// Run whose pipeline is compared with that of the page.
pub const PIPELINE_AGAINST: Key<String> = Key::new("against");

/// A view of the page of profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileView {
    #[default]
    Overview,
    Steps,
    Operators,
    Memory,
    Cluster,
    Compare,
    Sql,
}

pub const PROFILE_VIEW: Setting<ProfileView> = Key::of_words(
    "view",
    &[
        (ProfileView::Overview, "overview"),
        (ProfileView::Steps, "steps"),
        (ProfileView::Operators, "operators"),
        (ProfileView::Memory, "memory"),
        (ProfileView::Cluster, "cluster"),
        (ProfileView::Compare, "compare"),
        (ProfileView::Sql, "sql"),
    ],
)
.or(ProfileView::Overview);
/// Id of the session of a profile.
pub const SESSION: Key<String> = Key::new("session");
/// First step of a profile.
pub const SINCE: Key<i64> = Key::new("since_step");
/// Last step of a profile.
pub const UNTIL: Key<i64> = Key::new("until_step");
/// Name of the selected operator.
pub const OPERATOR: Key<String> = Key::new("op");

/// Start of the stretch of time in view, nanoseconds since the start of the session.
pub const TIMELINE_FROM: Key<i64> = Key::new("from");
/// End of the stretch of time in view.
pub const TIMELINE_TO: Key<i64> = Key::new("to");
/// Selected stretch of time.
pub const TIMELINE_AREA: Key<Area> = Key::with("area", Area::parse, Area::to_text);
/// Index of the selected slice.
pub const SLICE: Key<u32> = Key::new("sel");
/// Indices of the slices that are marked for now.
pub const MARKS: Setting<Vec<u32>> = Key::new("marks").or(Vec::new());
/// Indices of the lanes at the top.
pub const PINNED_LANES: Setting<Vec<u32>> = Key::new("pins").or(Vec::new());
/// Indices of the lanes that are left out.
pub const HIDDEN_LANES: Setting<Vec<u32>> = Key::new("hidden").or(Vec::new());
/// Groups and lanes that are not as at first: folded ones unfolded, and the reverse.
pub const TURNED_LANES: Setting<Vec<String>> = Key::new("folded").or(Vec::new());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_is_none_is_left_out() {
        assert_eq!(SCALARS_RANGE.read("10,20"), Some((10.0, 20.0)));
        for text in ["", "1", "2,1", "NaN,1", "1,inf", "a,b"] {
            assert_eq!(SCALARS_RANGE.read(text), None, "{text}");
        }
    }

    #[test]
    fn a_panel_is_read_back() {
        for panel in [
            RunsPanel::Record,
            RunsPanel::Columns,
            RunsPanel::Files("record".to_owned()),
        ] {
            let text = RUNS_PANEL.write(&panel).unwrap();
            assert_eq!(RUNS_PANEL.read(&text), Some(panel));
        }
        assert_eq!(RUNS_PANEL.read("files"), None);
    }
}
