//! Texts of the debugger.

/// Watchpoints, hits, the tensor of a hit.
pub struct DebuggerTexts {
    /// Entry of the rail.
    pub title: &'static str,
    /// The run has not been judged yet: title.
    pub waiting: &'static str,
    /// What happens next.
    pub waiting_next: &'static str,
    /// Nothing is wrong.
    pub healthy: &'static str,
    /// How much was judged: tensors, steps.
    pub judged: fn(u64, u64) -> String,
    /// Before the tensor where it began.
    pub first_cause: &'static str,
    /// Before advice, and heading of it.
    pub try_this: &'static str,
    /// Heading of the list.
    pub watchpoints: &'static str,
    /// Nobody chose watchpoints.
    pub recommended: &'static str,
    /// What a condition is about, by its name in the API.
    pub target: fn(&str) -> &'static str,
    /// Field over the hits.
    pub filter: &'static str,
    /// Label of the table.
    pub hits: &'static str,
    /// Head: tensors in the order of data flow.
    pub tensor: &'static str,
    /// Head.
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
    /// Beside a tensor of a rank.
    pub rank: fn(u32) -> String,
    /// Hits were left out: sent, all.
    pub cut: fn(u64, u64) -> String,
    /// Nothing passes the filter.
    pub nothing_matches: &'static str,
    /// There are no hits.
    pub no_hits: &'static str,
    /// Label of the panel at the right.
    pub inspector: &'static str,
    /// Link to the curve of a scalar.
    pub show_curve: &'static str,
    /// The hit's tensor is not among the statistics.
    pub no_statistics: &'static str,
    /// Heading of the bar of classes.
    pub elements: &'static str,
    /// Head of the table of statistics.
    pub finite: &'static str,
    /// Heading of the exponents.
    pub magnitudes: &'static str,
    /// Description of the picture: from, to.
    pub magnitudes_label: fn(&str, &str) -> String,
}
