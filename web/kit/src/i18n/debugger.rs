//! Texts of the debugger.

use trainscope_api::watchpoints::ParameterKind;
use trainscope_format::digits::Operator;

/// Watchpoints, hits, the tensor of a hit.
pub struct DebuggerTexts {
    pub title: &'static str,
    /// Before the name of a condition.
    pub condition: &'static str,
    pub waiting: &'static str,
    pub waiting_next: &'static str,
    /// Number of watchpoints that could not be judged everywhere.
    pub open: fn(u64) -> String,
    /// Of a watchpoint: how often it could not be judged, and why.
    pub unjudged: fn(u64, &str) -> String,
    pub stop: &'static str,
    pub first_cause: &'static str,
    pub try_this: &'static str,
    pub watchpoints: &'static str,
    pub recommended: &'static str,
    /// Subject of a condition, by its name in the API.
    pub target: fn(&str) -> &'static str,
    pub filter: &'static str,
    pub hits: &'static str,
    pub tensor: &'static str,
    pub watchpoint: &'static str,
    pub found: &'static str,
    pub limit: &'static str,
    /// Button: all hits; the argument is their numbers.
    pub all: fn(&str) -> String,
    /// A severity by its name in the API.
    pub severity: fn(&str) -> &'static str,
    pub first: &'static str,
    /// Mark of the hit that its step began with: how many follow from it.
    pub explains: fn(u64) -> String,
    /// Beside a tensor of a rank.
    pub rank: fn(u32) -> String,
    pub nothing_matches: &'static str,
    pub no_hits: &'static str,
    pub inspector: &'static str,
    pub show_curve: &'static str,
    /// Description of the curve of a hit: tag, step, value there.
    pub curve_label: fn(&str, &str, &str) -> String,
    pub no_statistics: &'static str,
    pub elements: &'static str,
    pub finite: &'static str,
    /// Maximum, mean, mean |x|, minimum and standard deviation of finite elements.
    pub figures: [&'static str; 5],
    pub magnitudes: &'static str,
    /// Description of the picture: from, to.
    pub magnitudes_label: fn(&str, &str) -> String,
    /// Number of enabled watchpoints.
    pub on: fn(u64) -> String,
    pub use_recommended: &'static str,
    /// Before that is done: to all runs, to this run alone.
    pub confirm_recommended: [&'static str; 2],
    pub recheck: &'static str,
    /// Progress of judging: elements judged, total.
    pub judging: fn(&str, &str) -> String,
    pub behind: &'static str,
    pub add: &'static str,
    pub edit: &'static str,
    pub remove: &'static str,
    pub save: &'static str,
    pub cancel: &'static str,
    pub copy_toml: &'static str,
    pub copied: &'static str,
    pub of_run: &'static str,
    pub of_all: &'static str,
    pub only_run: &'static str,
    pub use_those_of_all: &'static str,
    /// The file is not understood: why.
    pub broken: fn(&str) -> String,
    pub conflict: &'static str,
    pub unreachable: &'static str,
    /// Button below the others: watchpoints without hits.
    pub without_hits: fn(u64) -> String,
    /// Of a watchpoint, by the key `tensors` or `exclude`: the names.
    pub only: fn(&str, &str) -> String,
    /// After a switch was changed: which watchpoint.
    pub switched: fn(&str) -> String,
    pub undo: &'static str,
    /// Label of a switch: which watchpoint.
    pub switch: fn(&str) -> String,
    pub find_condition: &'static str,
    pub recommended_mark: &'static str,
    pub matters: &'static str,
    pub not_judged: &'static str,
    pub severity_label: &'static str,
    /// Choice of severity: that of the condition.
    pub as_usual: fn(&str) -> String,
    pub limits: &'static str,
    /// Around the limits: *Alert when …*.
    pub alert_when: [&'static str; 2],
    /// Between two limits: any one is enough; all must hold.
    pub or_and: [&'static str; 2],
    /// Before the first parameter that follows the limits, and before each further one.
    pub with_and: [&'static str; 2],
    /// A comparison, between quantity and limit.
    pub comparison: fn(Operator) -> &'static str,
    pub quantity: &'static str,
    pub comparison_label: &'static str,
    pub add_clause: &'static str,
    /// Button: take a limit away.
    pub remove_clause: fn(&str) -> String,
    /// At a field: its value is not permitted.
    pub must_be: fn(ParameterKind) -> &'static str,
    pub needs_limit: &'static str,
    pub advanced: &'static str,
    pub which: &'static str,
    pub off: &'static str,
    pub several: &'static str,
    pub steps: &'static str,
    /// Below the field: this is no range.
    pub no_range: fn(&str) -> String,
    /// Equal hits of several steps, by their first and last step and their number.
    pub series: fn(&str, u64) -> [String; 2],
    pub all_ranks: &'static str,
    pub back_to_hit: &'static str,
    /// The link to the step in the timeline of a profile.
    pub in_timeline: &'static str,
    pub over_steps: &'static str,
    /// Description of the chart: from, to.
    pub over_steps_label: fn(&str, &str) -> String,
    /// Below the chart, where it leaves steps out: how many it has.
    pub nearest_steps: fn(u64) -> String,
    pub all_steps: &'static str,
    pub source: &'static str,
    pub around: &'static str,
    pub guessed: &'static str,
    /// Names of the two displays: as the graph, as tensors.
    pub around_as: [&'static str; 2],
    /// Of a node of the graph: nothing was recorded; link to it.
    pub of_node: [&'static str; 2],
    pub upstream: &'static str,
    pub downstream: &'static str,
    pub next_hit: &'static str,
    pub next_step: &'static str,
    pub lost: &'static str,
}
