//! Profiles in English.

use super::ProfileTexts;
use crate::format;

fn many(count: u64, one: &str, more: &str) -> String {
    let noun = if count == 1 { one } else { more };
    format!("{} {noun}", format::count(count))
}

pub(in crate::i18n) static EN: ProfileTexts = ProfileTexts {
    title: "Profile",
    views: [
        "Overview",
        "Steps",
        "Operators",
        "Memory",
        "Cluster",
        "Compare",
        "SQL",
    ],
    pipeline: "Data pipeline",
    timeline: "Timeline",
    recording: "Recording",
    steps: "Steps",
    choose_steps: "Choose steps",
    session: "session",
    rank: "rank",
    open_timeline: "open in timeline",
    key_rows: "next, previous row",

    none: "No profile was recorded",
    alone: ("Nothing else was recorded", |size| {
        format!("{size} of profiles. Scalars or tensors are needed to judge the training itself.")
    }),
    loss_too: (
        "To see the loss too",
        "In the same folder, the profile becomes part of that run:",
    ),
    against: ("To compare", "Compare with another profile"),
    none_next: "Record a few steps with the profiler of your framework, into the folder of the run:",
    reading: "The profile is being read",
    bytes_of: |read, all| format!("{read} of {all}"),
    remark: "Note",
    truncated: "The file ends in the middle of an event; everything before it is shown.",
    damaged: |places| {
        format!(
            "{} could not be read; everything else is shown.",
            many(places, "place", "places")
        )
    },
    unread: "The profile could not be read",
    between: " ",
    download: "Download",
    more: |more| format!("{} more", format::count(more)),

    open_all: "Open timeline",
    step_takes: |time| format!("A step takes {time}."),
    steps_by: |name| format!("Steps are guessed from the annotation “{name}”."),
    unread_files: |files| {
        format!(
            "{} of the profiler beside it are not read",
            many(files, "file", "files")
        )
    },
    unread_which: "Which, and why",
    no_steps: "Call profiler.step() after each batch to record steps.",
    where_time: ["Where a step's time goes", "Where the time goes"],
    mean: |time| format!("mean {time}"),
    kinds: [
        ["Compute", "Collective", "Copy", "Data wait", "Host", "Idle"],
        [
            "Compute",
            "Collective",
            "Copy",
            "Data wait",
            "Host",
            "Other",
        ],
    ],
    hidden: "hidden communication",
    cut_off: "cut off by the recording",
    parts_label: |steps| format!("Parts of {}", many(steps, "step", "steps")),
    step: |number, of| match of {
        0 | 1 => format!("step {number}"),
        of => format!("step {number}, the longest of {}", format::count(of)),
    },

    would_help: "What would help",
    gain: ["gain per step", "gain"],
    at_best: "at best; its share of the time from the start of one step to that of the next",
    passed: |rules| match rules {
        1 => "1 rule found nothing to improve".to_owned(),
        rules => format!("{} rules found nothing to improve", format::count(rules)),
    },
    not_judged: |rules| format!("{} not judged", format::count(rules)),
    code: "Code",
    gone: |session| format!("The run has no session “{session}”"),
    gone_next: "It was removed or renamed. Choose another session above.",

    tiles: [
        [
            "Utilization",
            "Share of the steps during which kernels ran: union of kernels and collectives ÷ time from the start of the first step to the end of the last one.",
        ],
        [
            "SM efficiency, est.",
            "Mean of min(1, blocks per multiprocessor) over the same time: below the utilization where kernels are too small for the device.",
        ],
        [
            "Occupancy",
            "Achieved occupancy as estimated by the profiler, weighted by the time of the kernels.",
        ],
        [
            "Tensor cores",
            "Share of the time of kernels that use tensor cores, by their names.",
        ],
        [
            "FLOP/s",
            "FLOPs of the operators, from the shapes of their inputs, without what is recomputed for the backward pass, ÷ time of the steps.",
        ],
        [
            "Overlap",
            "Share of the communication that is hidden behind kernels.",
        ],
        [
            "Peak memory",
            "Maximum of the bytes allocated at once, on the device with the highest peak.",
        ],
        [
            "Launch delay",
            "Median time from the end of a launch call to the start of its work: near 0 means that the device waits for the host, large values that work is queued.",
        ],
    ],
    flops_in_part: |share| format!("counted for {share} of the products"),
    mfu: |share| format!("MFU {share}"),
    of_peak: "peak",
    peak_label: "Peak of the device, TFLOP/s",
    peak_title: "Peak of the device for these operators: as in the data sheet of the device, if it is listed, or as typed here. It is kept with the notes of the run.",
    lacks: [
        "The profile has no kernels of a device.",
        "Shapes of inputs were not recorded.",
        "Stacks were not recorded, so scopes may be missing.",
        "Allocations were not recorded.",
        "Record the same steps on every rank, below the same folder.",
    ],
    to_record: "To record them:",
    since_recording: "since the recording began",
    at_most: |time| format!("at most {time}"),
    idle: "Idle device",
    idle_beside: "gaps of the streams by cause",
    cause: |id| {
        Some(match id {
            "host" => "Waits for the host",
            "kernel" => "Between kernels",
            "other_stream" => "Waits for another stream",
            "other" => "Other",
            _ => return None,
        })
    },
    cause_meaning: |id| {
        Some(match id {
            "host" => "The next work was launched only after the gap had begun.",
            "kernel" => "The next work was queued; the gap is as short as any between two kernels.",
            "other_stream" => "Work of another stream ended just before the gap did.",
            _ => return None,
        })
    },
    gaps: |gaps| many(gaps, "gap", "gaps"),
    longest_gap: |time| format!("The longest takes {time}: open it in the timeline."),
    meanwhile: "what the host did meanwhile",
    doing: |id| {
        Some(match id {
            "data" => "Waiting for data",
            "waiting" => "Waiting for the device",
            "python" => "Python",
            "operators" => "Operators",
            "nothing" => "Nothing recorded",
            _ => return None,
        })
    },
    path: "Critical path",
    path_meaning: "time on the critical path per step",
    draw_path: "Show in the timeline",
    segment: |id| {
        Some(match id {
            "kernel" => "Kernels",
            "communication" => "Collectives",
            "memcpy" => "Copies",
            "memset" => "Memset",
            "data" => "Data wait",
            "host" => "Host",
            "launch" => "Launch delay",
            "between_kernels" => "Between kernels",
            _ => return None,
        })
    },

    operators: "Operators",
    of_operators: |shown, all, share| {
        format!(
            "{} of {}, {share} of the time",
            format::count(shown),
            many(all, "row", "rows")
        )
    },
    most_time: |name, time, share, is_of_step| {
        let step = if is_of_step { " per step" } else { "" };
        format!("{name} takes the most time: {time}{step}, {share}.")
    },
    half_time: |some, all| {
        format!(
            "{} of {} take half of the time.",
            format::count(some),
            format::count(all)
        )
    },
    group: "Group",
    groups: [
        "By type",
        "By name",
        "By scope",
        "By shape",
        "Kernels",
        "Full names",
    ],
    group_heads: ["Type", "Operator", "Scope", "Operator", "Kernel", "Kernel"],
    self_time: "Self time",
    variants: "Full names",
    filter: "name, type:… or > 1 ms",
    filter_title: "Text of names, type:TEXT for types, > 1 ms for self time",
    columns: [
        "Name",
        "Type",
        "Shapes",
        "Self time per step",
        "Total",
        "Calls",
        "Mean",
        "p99",
        "Device",
        "Share",
        "Occupancy",
        "Tensor",
        "FLOPs",
        "Of peak",
        "Moved",
        "Of roofline",
    ],
    bounds: ["compute", "memory"],
    choose_columns: "Columns",
    flops_by_scope: "FLOPs of a step by scope",
    no_scope: "outside of scopes",
    rows: "rows",
    open_slices: "Show its slices in the timeline",
    median: "median",
    p99: "p99",
    calls: "calls",
    total: "total",
    time_of_call: |calls| format!("time of a call, {}", many(calls, "call", "calls")),
    mean_by_step: "mean per step",
    node: "Node of the graph",
    longest_call: |time| format!("Longest call: {time}"),
    shapes: "by shape",
    kernels: "kernels it launches",
    callers: "called by",
    sequences: "most frequent sequences of kernels",

    open_step: |number| format!("Open step {number}"),
    steps_sentence: |all, outliers, median, spread, grown| {
        let regular = all.saturating_sub(outliers);
        let head = match (all, outliers) {
            (1, _) => format!("One step was recorded: it takes {median}"),
            (_, 0) => format!(
                "{} steps, median {median}, all within {spread}",
                format::count(all)
            ),
            _ => format!(
                "{} steps, median {median}, {} within {spread}",
                format::count(all),
                format::count(regular)
            ),
        };
        match (outliers, grown) {
            (0, _) => format!("{head}."),
            (many, None) => format!("{head}; {} take longer.", format::count(many)),
            (many, Some((part, time))) => format!(
                "{head}; {} take longer, mostly {part}: {time} more.",
                format::count(many)
            ),
        }
    },
    too_few_to_drift: "Too few steps to see a drift.",
    drift: [
        |_| "No drift: the last steps are as long as the first ones.".to_owned(),
        |share| format!("Steps become longer: the last quarter takes {share} more than the first."),
        |share| {
            format!("Steps become shorter: the last quarter takes {share} less than the first.")
        },
    ],
    step_trace: "Step trace",
    one_row: "one row a step",
    order: "Order",
    orders: ["Time", "Longest"],
    align: "Align at",
    aligns: ["Start", "Forward"],
    phases: [
        "Data wait",
        "Forward",
        "Backward",
        "Update",
        "Collective",
        "Host",
        "Between steps",
        "Forward and backward",
        "Recomputation",
    ],
    step_title: |number| format!("Step {number}"),
    against_median: |steps| format!("against the median of {}", format::count(steps)),
    step_curves: "Curves at this step",
    step_debugger: "Debugger at this step",
    previous_step: "Previous row",
    next_step: "Next row",
    phase: "Phase",
    this: "this",
    difference: "difference",
    step_total: "Step",
    lengths: "Length of a step",
    lengths_beside: |steps, outliers| match outliers {
        0 => many(steps, "step", "steps"),
        _ => format!(
            "{}, {}",
            many(steps, "step", "steps"),
            many(outliers, "outlier", "outliers")
        ),
    },
    over_steps: "Phases over steps",

    memory_none: "Memory was not recorded",
    memory_sentence: |peak, device, step, largest| {
        let device = device.map(|(size, share)| format!(" of {size} ({share})"));
        let step = step.map(|(into, number)| format!(", {into} into step {number}"));
        let largest =
            largest.map(|(bytes, name)| format!("; {bytes} of it are {}", name.to_lowercase()));
        let [device, step, largest] = [device, step, largest].map(Option::unwrap_or_default);
        format!("Memory peaks at {peak}{device}{step}{largest}.")
    },
    memory_grows: |slope, full| match full {
        None => format!("It grows by {slope} per step."),
        Some(steps) => format!(
            "It grows by {slope} per step: the device is full in {}.",
            many(steps, "step", "steps")
        ),
    },
    memory_steady: "It does not grow over the steps.",
    without_addresses: "Addresses were not recorded, so allocations and releases are not paired, and categories are unknown.",
    since_begin: "Bytes count from the start of the recording: memory allocated before is not included.",
    categories_from: [
        "Categories are those that the framework recorded.",
        "Categories follow from lifetimes.",
        "Categories follow from the calls that allocated.",
    ],
    memory_failed: |failures, asked, at, free| match failures {
        1 => format!("An allocation of {asked} failed at {at}: {free} of the device were free."),
        more => format!(
            "{} allocations failed, the first of {asked} at {at}: {free} of the device were free.",
            format::count(more)
        ),
    },
    open_peak: "Open at the peak",
    categories: [
        "Weights",
        "Optimizer",
        "Inputs",
        "Kept throughout",
        "Gradients",
        "Activations",
        "Autograd",
        "Workspace",
        "Other",
    ],
    memory_over: "Memory over time",
    whole_session: "Session",
    device: "Device",
    host: "host",
    device_size: |size| format!("device {size}"),
    reserved: "Reserved",
    at_peak: "At the peak",
    at_moment: |time| format!("At {time}"),
    back_to_peak: "back to the peak",
    holder_groups: ["By operator", "By scope", "By allocation", "Flame chart"],
    line_groups: ["By line", "By call path"],
    line_column: "Line of the program",
    holder_columns: [
        "Operator",
        "Kind",
        "Size",
        "Allocations",
        "Lifetime",
        "From, to",
    ],
    unknown_holder: "outside of operators",
    holds: |rows, held, all| format!("{}, {held} of {all}", many(rows, "row", "rows")),
    memory_fine: "The rules about memory found nothing.",
    memory_unjudged: |reasons| format!("Not judged: {reasons}."),
    comma: ", ",
    over_session: "Over the steps",
    least: "minimum",
    growth: "growth per step, 95 % interval",
    unused: "reserved, not used",
    allocations: "allocations",
    never_freed: "not released in the recording",
    freed_unseen: "released, allocated before it",

    one_rank: "Only one rank was recorded",
    rank_name: |rank| format!("rank {rank}"),
    ranks_of: |ranks| many(ranks, "rank", "ranks"),
    open_rank: |rank| format!("Open rank {rank}"),
    no_straggler: |ranks, steps| {
        format!(
            "No rank of {} is slow in {}.",
            format::count(ranks),
            many(steps, "step", "steps")
        )
    },
    straggler: |from, steps| format!("Since step {from} ({}).", many(steps, "step", "steps")),
    side_by_side: "Ranks side by side",
    mean_step: "mean of all steps",
    mean_of_steps: |first, last| format!("mean of steps {first}–{last}"),
    ranks_ends: |shown, all| {
        format!(
            "mean step, {} slowest and fastest of {}",
            format::count(shown),
            format::count(all)
        )
    },
    rank_orders: ["Rank", "Compute"],
    waits_for_others: "waits for others",
    waited_for: |time| format!("waited for: {time}"),
    clock_offset: "clock",
    when_began: "When it began",
    map_beside: [
        "against the median of the ranks at that step",
        "time per step",
    ],
    quantities: ["Waited for", "Compute", "Waiting", "Step"],
    median_of_ranks: "median of the ranks",
    against_communication: "Compute against communication",
    pair: |usual, slow, step| format!("ranks {usual} and {slow}, the later one, at step {step}"),
    all_arrived: "The dashed line: all ranks have arrived, the collective starts. Pale: waiting for it.",
    no_collectives: "No collectives were recorded.",
    collective_columns: ["Collective", "Size", "Time", "Hidden", "Spread", "Bus"],
    process_groups: "Process groups",
    groups_beside: "of a rank in the whole recording",
    point_to_point: "send and receive",
    group_columns: ["Group", "Ranks", "Count", "Size", "Time", "Exposed"],
    links: "Links between ranks",
    of_links: |rows, all| {
        format!(
            "the {} slowest of {}",
            format::count(rows),
            format::count(all)
        )
    },
    link_columns: ["Link", "Transport", "Size", "Time", "Bandwidth"],
    lost: "Lost time",
    lost_beside: "mean time that a rank waits for the others",
    slowest: "waited for",
    in_steps: |steps| format!("in {}", many(steps, "step", "steps")),
    times_ranks: |ranks| {
        format!(
            "times the {} others",
            format::count(ranks.saturating_sub(1))
        )
    },

    both_timelines: "Both timelines, aligned at a step",
    compare_with: "Compare with",
    compare_none: "There is nothing to compare with yet",
    compare_next: "Record another session or rank of this run, or choose another run that has a profile.",
    ratio: |ratio, low, high| {
        format!("Ratio of the medians: {ratio}, 95 % interval {low} to {high}.")
    },
    not_recorded: "not recorded",
    diff_columns: [
        "Name",
        "Here per step",
        "There",
        "Difference",
        "Calls",
        "Change",
    ],
    only_here: "only here",
    only_there: "only there",
    side_by_side_parts: "Parts of a step",
    here: "here",
    there: "there",
    peak: "Peak memory",

    sql_label: "Statement",
    sql_run: "Run",
    sql_hint: "One SELECT of SQLite over all ranks. Ctrl+Enter runs it.",
    sql_examples: ["Kernels", "Time by rank", "Slow steps", "Launch delays"],
    sql_refused: "The statement has no rows",
    sql_result: "Rows",
    sql_rows: |rows, seconds, is_cut| {
        if is_cut {
            format!("the first {} in {seconds} s", many(rows, "row", "rows"))
        } else {
            format!("{} in {seconds} s", many(rows, "row", "rows"))
        }
    },
    sql_tables: "Tables",
};
