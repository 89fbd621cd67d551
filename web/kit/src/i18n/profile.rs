//! The texts of profiles: steps, operators, memory, ranks, comparison.

mod en;
mod zh;

pub(super) use en::EN;
pub(super) use zh::ZH;

/// Name of something by its id in answers; `None` for ids without one.
type NameOf = fn(&str) -> Option<&'static str>;

/// Sentence about steps: all, outliers, median, spread, the part that grew and by how much.
type StepsSentence = fn(u64, u64, &str, &str, Option<(&str, &str)>) -> String;

/// Sentence about memory: peak; size and share of the device; time into a step and its number; bytes and name of the
/// largest category.
type MemorySentence =
    fn(&str, Option<(&str, &str)>, Option<(&str, &str)>, Option<(&str, &str)>) -> String;

/// Texts of everything about profiles but the timeline itself.
pub struct ProfileTexts {
    pub title: &'static str,
    /// Titles of the views: overview, steps, operators, memory, cluster, compare, SQL.
    pub views: [&'static str; 7],
    pub pipeline: &'static str,
    pub timeline: &'static str,
    /// Name of the choice of session, rank and steps.
    pub recording: &'static str,
    pub steps: &'static str,
    pub choose_steps: &'static str,
    pub session: &'static str,
    pub rank: &'static str,
    pub open_timeline: &'static str,
    pub key_rows: &'static str,

    pub none: &'static str,
    pub none_next: &'static str,
    /// Title and sentence of a run without other records, from the size of its files.
    pub alone: (&'static str, fn(&str) -> String),
    /// Title and sentence above the code that records the loss too.
    pub loss_too: (&'static str, &'static str),
    /// Title, and a link to the comparison with another profile.
    pub against: (&'static str, &'static str),
    pub reading: &'static str,
    /// Bytes read, all bytes.
    pub bytes_of: fn(&str, &str) -> String,
    /// Something to know about a profile that was read.
    pub remark: &'static str,
    pub truncated: &'static str,
    /// Number of places that could not be read.
    pub damaged: fn(u64) -> String,
    pub unread: &'static str,
    /// Between two sentences.
    pub between: &'static str,
    pub download: &'static str,
    /// More entries of a list.
    pub more: fn(u64) -> String,

    /// Button: the whole timeline.
    pub open_all: &'static str,
    /// Median time of a step.
    pub step_takes: fn(&str) -> String,
    /// Steps are guessed from an annotation of this name.
    pub steps_by: fn(&str) -> String,
    pub no_steps: &'static str,
    /// Number of files beside the profile that are not read.
    pub unread_files: fn(u64) -> String,
    pub unread_which: &'static str,
    /// With steps, and without.
    pub where_time: [&'static str; 2],
    /// Mean time of a step.
    pub mean: fn(&str) -> String,
    /// Kinds of time with a device and without one: compute, communication, copy, data, host, idle.
    pub kinds: [[&'static str; 6]; 2],
    pub hidden: &'static str,
    pub cut_off: &'static str,
    /// Label of the picture: number of steps.
    pub parts_label: fn(u64) -> String,
    /// A step by its number, or the longest of several.
    pub step: fn(&str, u64) -> String,

    pub would_help: &'static str,
    /// With steps, and without.
    pub gain: [&'static str; 2],
    pub at_best: &'static str,
    /// Number of rules that found nothing.
    pub passed: fn(u64) -> String,
    /// Number of rules that could not be judged.
    pub not_judged: fn(u64) -> String,
    pub code: &'static str,
    /// A session of the address that the run does not have.
    pub gone: fn(&str) -> String,
    pub gone_next: &'static str,

    /// Name and meaning: utilization, multiprocessors, occupancy, tensor cores, FLOP/s, overlap, peak of memory, launch delay.
    pub tiles: [[&'static str; 2]; 8],
    /// Share of the peak that the FLOPs reach (MFU), beside their rate.
    pub mfu: fn(&str) -> String,
    pub flops_in_part: fn(&str) -> String,
    pub of_peak: &'static str,
    pub peak_label: &'static str,
    pub peak_title: &'static str,
    /// Data that a profile lacks: device, shapes, stacks, memory, other ranks.
    pub lacks: [&'static str; 5],
    /// Before the code that records it.
    pub to_record: &'static str,
    pub since_recording: &'static str,
    pub at_most: fn(&str) -> String,
    pub idle: &'static str,
    pub idle_beside: &'static str,
    pub cause: NameOf,
    pub cause_meaning: NameOf,
    pub gaps: fn(u64) -> String,
    pub longest_gap: fn(&str) -> String,
    /// Heading: activity of the host during the idle time of the device.
    pub meanwhile: &'static str,
    pub doing: NameOf,
    pub path: &'static str,
    pub path_meaning: &'static str,
    /// Link: the path in the timeline.
    pub draw_path: &'static str,
    pub segment: NameOf,

    pub operators: &'static str,
    /// Operators shown, all of them, share of the time of all.
    pub of_operators: fn(u64, u64, &str) -> String,
    /// The operator with the most time: name, time a step, share.
    /// Name, time, share; `true` if the time is that of a step.
    pub most_time: fn(&str, &str, &str, bool) -> String,
    /// Number of operators that take half of the time, and of all.
    pub half_time: fn(u64, u64) -> String,
    pub group: &'static str,
    /// By type, name, scope, shape; kernels.
    pub groups: [&'static str; 6],
    /// Head of the first column for each of them.
    pub group_heads: [&'static str; 6],
    pub filter: &'static str,
    pub filter_title: &'static str,
    /// Name, type, shapes, self time, total time, calls, mean, p99, device time, share, occupancy, tensor cores, FLOPs, share of the peak, bandwidth,
    /// share of the roofline.
    pub columns: [&'static str; 16],
    /// Bound by the rate of the units, by memory.
    pub bounds: [&'static str; 2],
    /// Self time of a recording without steps.
    pub self_time: &'static str,
    /// Full names of a kernel.
    pub variants: &'static str,
    pub choose_columns: &'static str,
    pub flops_by_scope: &'static str,
    /// Operators that no scope is around.
    pub no_scope: &'static str,
    pub rows: &'static str,
    pub open_slices: &'static str,
    pub median: &'static str,
    pub p99: &'static str,
    pub calls: &'static str,
    pub total: &'static str,
    /// Caption of a distribution: calls.
    pub time_of_call: fn(u64) -> String,
    pub mean_by_step: &'static str,
    pub node: &'static str,
    pub longest_call: fn(&str) -> String,
    pub shapes: &'static str,
    pub kernels: &'static str,
    pub callers: &'static str,
    pub sequences: &'static str,

    pub open_step: fn(&str) -> String,
    pub steps_sentence: StepsSentence,
    pub too_few_to_drift: &'static str,
    /// From the first quarter of the steps to the last one: no change, longer, shorter by a share.
    pub drift: [fn(&str) -> String; 3],
    pub step_trace: &'static str,
    pub one_row: &'static str,
    pub order: &'static str,
    /// By time, by length.
    pub orders: [&'static str; 2],
    pub align: &'static str,
    /// At the start of the step, at the start of the forward pass.
    pub aligns: [&'static str; 2],
    /// Data, forward, backward, update, communication, host, interval, forward and backward, recomputation.
    pub phases: [&'static str; 9],
    pub step_title: fn(&str) -> String,
    pub against_median: fn(u64) -> String,
    /// Links to other pages at a step.
    pub step_curves: &'static str,
    pub step_debugger: &'static str,
    pub previous_step: &'static str,
    pub next_step: &'static str,
    pub phase: &'static str,
    pub this: &'static str,
    pub difference: &'static str,
    pub step_total: &'static str,
    pub lengths: &'static str,
    /// Steps, outliers.
    pub lengths_beside: fn(u64, u64) -> String,
    pub over_steps: &'static str,

    pub memory_none: &'static str,
    pub memory_sentence: MemorySentence,
    /// Memory grows: bytes a step, steps until the device is full.
    pub memory_grows: fn(&str, Option<u64>) -> String,
    pub memory_steady: &'static str,
    pub since_begin: &'static str,
    pub without_addresses: &'static str,
    /// Categories are those of a file; they follow from lifetimes; from call stacks.
    pub categories_from: [&'static str; 3],
    /// Failed allocations, the bytes that the first asked for, its moment, and the bytes that were free.
    pub memory_failed: fn(u64, &str, &str, &str) -> String,
    pub open_peak: &'static str,
    /// Parameters, optimizer, inputs, kept, gradients, activations, autograd, workspace, other.
    pub categories: [&'static str; 9],
    pub memory_over: &'static str,
    pub whole_session: &'static str,
    pub device: &'static str,
    pub host: &'static str,
    pub device_size: fn(&str) -> String,
    pub reserved: &'static str,
    pub at_peak: &'static str,
    pub at_moment: fn(&str) -> String,
    pub back_to_peak: &'static str,
    /// By operator, by scope, by allocation, as a flame chart.
    pub holder_groups: [&'static str; 4],
    /// The first two of the groups where allocations have call stacks.
    pub line_groups: [&'static str; 2],
    /// The first column where allocations have call stacks.
    pub line_column: &'static str,
    /// Operator, category, bytes, allocations, lifetime, lifetime on the axis.
    pub holder_columns: [&'static str; 6],
    pub unknown_holder: &'static str,
    /// Rows, their bytes, all bytes of the moment.
    pub holds: fn(u64, &str, &str) -> String,
    pub memory_fine: &'static str,
    /// Reasons why no rule about memory was judged.
    pub memory_unjudged: fn(&str) -> String,
    pub comma: &'static str,
    pub over_session: &'static str,
    pub least: &'static str,
    pub growth: &'static str,
    pub unused: &'static str,
    pub allocations: &'static str,
    pub never_freed: &'static str,
    pub freed_unseen: &'static str,

    pub one_rank: &'static str,
    pub rank_name: fn(u32) -> String,
    pub ranks_of: fn(u64) -> String,
    pub open_rank: fn(u32) -> String,
    /// No rank is slow: ranks, steps.
    pub no_straggler: fn(u64, u64) -> String,
    /// A slow rank: its first slow step, slow steps.
    pub straggler: fn(&str, u64) -> String,
    pub side_by_side: &'static str,
    pub mean_step: &'static str,
    /// First and last step.
    pub mean_of_steps: fn(&str, &str) -> String,
    /// Bars, ranks.
    pub ranks_ends: fn(u64, u64) -> String,
    pub rank_orders: [&'static str; 2],
    pub waits_for_others: &'static str,
    /// So much more compute.
    pub waited_for: fn(&str) -> String,
    pub clock_offset: &'static str,
    pub when_began: &'static str,
    /// Against the median; sizes.
    pub map_beside: [&'static str; 2],
    /// Compute, waiting, length of a step.
    pub quantities: [&'static str; 4],
    pub median_of_ranks: &'static str,
    pub against_communication: &'static str,
    /// A usual rank, the slowest one, a step.
    pub pair: fn(u32, u32, &str) -> String,
    pub all_arrived: &'static str,
    pub no_collectives: &'static str,
    /// Name, size, time, hidden, spread of arrival, bandwidth.
    pub collective_columns: [&'static str; 6],
    pub process_groups: &'static str,
    pub groups_beside: &'static str,
    /// Mark of a group in which ranks send to one another.
    pub point_to_point: &'static str,
    /// Name, size, count, bytes, time, time without compute.
    pub group_columns: [&'static str; 6],
    pub links: &'static str,
    pub of_links: fn(u64, u64) -> String,
    pub link_columns: [&'static str; 5],
    pub lost: &'static str,
    pub lost_beside: &'static str,
    pub slowest: &'static str,
    pub in_steps: fn(u64) -> String,
    /// The same, times the ranks that wait.
    pub times_ranks: fn(u64) -> String,

    pub both_timelines: &'static str,
    pub compare_with: &'static str,
    pub compare_none: &'static str,
    pub compare_next: &'static str,
    /// Ratio of medians, its interval.
    pub ratio: fn(&str, &str, &str) -> String,
    pub not_recorded: &'static str,
    /// Name, self time here and there, difference, calls, change.
    pub diff_columns: [&'static str; 6],
    pub only_here: &'static str,
    pub only_there: &'static str,
    pub side_by_side_parts: &'static str,
    pub here: &'static str,
    pub there: &'static str,
    pub peak: &'static str,

    /// Name of the field of a statement.
    pub sql_label: &'static str,
    pub sql_run: &'static str,
    pub sql_hint: &'static str,
    /// Titles of statements: kernels, time by rank, steps, delays of launches.
    pub sql_examples: [&'static str; 4],
    /// A statement that was not run, or not to its end.
    pub sql_refused: &'static str,
    pub sql_result: &'static str,
    /// Number of rows, seconds, and whether there are more rows.
    pub sql_rows: fn(u64, &str, bool) -> String,
    pub sql_tables: &'static str,
}
