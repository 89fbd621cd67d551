//! Texts of the debugger.

use trainscope_api::watchpoints::ParameterKind;
use trainscope_format::digits::Operator;

/// Watchpoints, hits, the tensor of a hit.
pub struct DebuggerTexts {
    /// Entry of the rail.
    pub title: &'static str,
    /// The run has not been judged yet: title.
    pub waiting: &'static str,
    pub waiting_next: &'static str,
    /// So many watchpoints could not be judged everywhere.
    pub open: fn(u64) -> String,
    /// Of a watchpoint: how often it could not be judged, and why.
    pub unjudged: fn(u64, &str) -> String,
    /// The end of a sentence.
    pub stop: &'static str,
    /// Before the tensor where it began.
    pub first_cause: &'static str,
    /// Before advice, and heading of it.
    pub try_this: &'static str,
    /// Heading of the list.
    pub watchpoints: &'static str,
    /// Hint that no watchpoints are configured and the recommended ones apply.
    pub recommended: &'static str,
    /// Subject of a condition, by its name in the API.
    pub target: fn(&str) -> &'static str,
    /// Field over the hits.
    pub filter: &'static str,
    /// Label of the table.
    pub hits: &'static str,
    /// Head: tensors in the order of data flow.
    pub tensor: &'static str,
    pub watchpoint: &'static str,
    /// Head: the value.
    pub found: &'static str,
    /// Head: its limit.
    pub limit: &'static str,
    /// Button: all hits.
    pub all: fn(u64) -> String,
    /// A severity by its name in the API.
    pub severity: fn(&str) -> &'static str,
    /// Mark of the hit that everything began with.
    pub first: &'static str,
    /// Mark of the hit that its step began with: how many follow from it.
    pub explains: fn(u64) -> String,
    /// Beside a tensor of a rank.
    pub rank: fn(u32) -> String,
    /// Nothing passes the filter.
    pub nothing_matches: &'static str,
    /// There are no hits.
    pub no_hits: &'static str,
    /// Label of the panel at the right.
    pub inspector: &'static str,
    /// Link to the curve of a scalar.
    pub show_curve: &'static str,
    /// Description of the curve of a hit: tag, step, value there.
    pub curve_label: fn(&str, &str, &str) -> String,
    /// Nothing is known of the hit's tensor.
    pub no_statistics: &'static str,
    /// Heading of the bar of classes.
    pub elements: &'static str,
    /// Head of the table of statistics.
    pub finite: &'static str,
    /// Maximum, mean, mean |x|, minimum and standard deviation of finite elements.
    pub figures: [&'static str; 5],
    /// Heading of the exponents.
    pub magnitudes: &'static str,
    /// Description of the picture: from, to.
    pub magnitudes_label: fn(&str, &str) -> String,
    /// Number of enabled watchpoints.
    pub on: fn(u64) -> String,
    /// Button: the recommended set.
    pub use_recommended: &'static str,
    /// Before that is done: to all runs, to this run alone.
    pub confirm_recommended: [&'static str; 2],
    /// Button: judge all recorded steps again.
    pub recheck: &'static str,
    /// Progress of judging: elements judged, total.
    pub judging: fn(&str, &str) -> String,
    /// The files have grown since they were judged.
    pub behind: &'static str,
    /// Button: choose from the catalogue.
    pub add: &'static str,
    /// Button, and what a key does.
    pub edit: &'static str,
    /// Button: take a watchpoint away.
    pub remove: &'static str,
    pub save: &'static str,
    pub cancel: &'static str,
    /// Button: the list as a file.
    pub copy_toml: &'static str,
    /// The list is in the clipboard.
    pub copied: &'static str,
    /// The list is of this run alone.
    pub of_run: &'static str,
    /// The list is of all runs.
    pub of_all: &'static str,
    /// Box: changes are for this run alone.
    pub only_run: &'static str,
    /// Button: away with the list of this run.
    pub use_those_of_all: &'static str,
    /// The file is not understood: why.
    pub broken: fn(&str) -> String,
    /// Conflict with a concurrent change.
    pub conflict: &'static str,
    /// The server could not be reached.
    pub unreachable: &'static str,
    /// Button below the others: watchpoints without hits.
    pub without_hits: fn(u64) -> String,
    /// Of a watchpoint, by the key `tensors` or `exclude`: the names.
    pub only: fn(&str, &str) -> String,
    /// After a switch was changed: which watchpoint.
    pub switched: fn(&str) -> String,
    /// Button beside it.
    pub undo: &'static str,
    /// Label of a switch: which watchpoint.
    pub switch: fn(&str) -> String,
    /// Field over the catalogue.
    pub find_condition: &'static str,
    /// Mark of what is recommended.
    pub recommended_mark: &'static str,
    /// Heading: why it matters.
    pub matters: &'static str,
    /// Heading: when it is not judged.
    pub not_judged: &'static str,
    /// Label of the choice of severity.
    pub severity_label: &'static str,
    /// Choice of severity: that of the condition.
    pub as_usual: fn(&str) -> String,
    /// Heading of a condition's own parameters.
    pub limits: &'static str,
    /// Around the limits: *Alert when …*.
    pub alert_when: [&'static str; 2],
    /// Between two limits: any one is enough; all must hold.
    pub or_and: [&'static str; 2],
    /// Before the first parameter that follows the limits, and before each further one.
    pub with_and: [&'static str; 2],
    /// A comparison, between quantity and limit.
    pub comparison: fn(Operator) -> &'static str,
    /// Labels of the lists of quantities and comparisons.
    pub quantity: &'static str,
    pub comparison_label: &'static str,
    /// Button: another limit.
    pub add_clause: &'static str,
    /// Button: take a limit away.
    pub remove_clause: fn(&str) -> String,
    /// At a field: its value is not permitted.
    pub must_be: fn(ParameterKind) -> &'static str,
    /// At a field: no limit is given.
    pub needs_limit: &'static str,
    /// Summary of the folded keys.
    pub advanced: &'static str,
    /// Heading of common parameters.
    pub which: &'static str,
    /// A limit without a value.
    pub off: &'static str,
    /// After the help of a list of names.
    pub several: &'static str,
    /// Field: a range of steps.
    pub steps: &'static str,
    /// Below the field: this is no range.
    pub no_range: fn(&str) -> String,
    /// Choice of rank.
    pub all_ranks: &'static str,
    /// Button: from another tensor to that of the hit.
    pub back_to_hit: &'static str,
    /// Heading of the chart.
    pub over_steps: &'static str,
    /// Description of the chart: from, to.
    pub over_steps_label: fn(&str, &str) -> String,
    /// Below the chart, where it leaves steps out: how many it has.
    pub nearest_steps: fn(u64) -> String,
    /// Link to a tensor at all steps.
    pub all_steps: &'static str,
    /// Heading: where the training computes it.
    pub source: &'static str,
    /// Heading: what the tensor is made of, and what is made of it.
    pub around: &'static str,
    /// Beside it: no graph was recorded.
    pub guessed: &'static str,
    /// Names of the two displays: as the graph, as tensors.
    pub around_as: [&'static str; 2],
    /// Of a node of the graph: nothing was recorded; link to it.
    pub of_node: [&'static str; 2],
    /// Column of what it is made of.
    pub upstream: &'static str,
    /// Column of what is made of it.
    pub downstream: &'static str,
    /// Description of a keyboard shortcut.
    pub next_hit: &'static str,
    /// Description of a keyboard shortcut.
    pub next_step: &'static str,
    /// The hit that the address names is not there.
    pub lost: &'static str,
}
