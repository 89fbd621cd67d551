//! English.

use super::{
    DebuggerTexts, FrameTexts, KeyTexts, PanelTexts, RecordTexts, RunsTexts, StateTexts, Texts,
    TimeTexts,
};
use crate::format;
use trainscope_api::watchpoints::ParameterKind;
use trainscope_format::digits::Operator;

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A count with its noun.
fn many(count: u64, one: &str, more: &str) -> String {
    let noun = if count == 1 { one } else { more };
    format!("{} {noun}", format::count(count))
}

fn of_files(bad: u64, all: u64, what: &str) -> String {
    if all == 1 {
        format!("file {what}")
    } else {
        format!("{bad} of {all} files {what}")
    }
}

fn is_or_are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

pub(super) static TEXTS: Texts = Texts {
    frame: FrameTexts {
        runs: "Runs",
        scalars: "Scalars",
        help: "Help",
        main_navigation: "Main",
        switch_run: "Switch to another run",
        find_run: "Find a run",
        search: "Search pages, runs, tags, nodes",
        search_nothing: |text| format!("Nothing contains “{text}”"),
        found_pages: "Pages",
        found_runs: "Runs",
        found_tags: "Tags",
        found_tags_of_runs: "Tags of runs",
        found_nodes: "Nodes",
        hits: |counts| match (counts.problems(), counts.info) {
            (problems, 0) => format::count(problems),
            (0, notes) => many(notes, "note", "notes"),
            (problems, notes) => {
                format!(
                    "{} + {}",
                    format::count(problems),
                    many(notes, "note", "notes")
                )
            }
        },
        step: "step",
        live: "live",
        stopped: "stopped",
        gone: "gone",
        unknown: "unknown",
        skip: "Skip to content",
        updated: |age| format!("Last data {age}"),
        pause: "Pause live update",
        resume: "Resume live update",
        paused: "Paused",
        offline: "No connection",
        other_language: "中文",
        dark_theme: "Dark theme",
        light_theme: "Light theme",
        close: "Close",
        reading: |read, total, files| {
            format!(
                "reading {read} of {total} · {}",
                many(files, "file", "files")
            )
        },
        runs_summary: |runs, folders, size| {
            let runs = many(runs, "run", "runs");
            if folders > 1 {
                format!("{runs} in {} folders · {size}", format::count(folders))
            } else {
                format!("{runs} · {size}")
            }
        },
        runs_cut: "more runs than fit in one list",
    },
    recorded: &super::recorded::EN,
    histograms: &super::histograms::EN,
    tensors: super::tensors::EN,
    debugger: DebuggerTexts {
        title: "Debugger",
        condition: "Condition",
        waiting: "This run has not been judged yet",
        waiting_next: "It is checked as soon as its files are read; this page updates by itself.",
        open: |n| {
            let all = many(n, "watchpoint was", "watchpoints were");
            format!("{all} skipped for some tensors (see list).")
        },
        unjudged: |n, why| format!("{} skipped: {why}", format::count(n)),
        stop: ".",
        first_cause: "First cause:",
        try_this: "Try:",
        watchpoints: "Watchpoints",
        recommended: "Recommended watchpoints",
        target: |target| match target {
            "weight" => "weights",
            "gradient" => "gradients",
            "activation" => "activations",
            "scalar" => "scalars",
            "run" => "entire run",
            "profile" => "profiles",
            _ => "all tensors",
        },
        filter: "Tensor or watchpoint",
        hits: "Hits",
        tensor: "Tensor, in data-flow order",
        watchpoint: "Watchpoint",
        found: "Found",
        limit: "Limit",
        all: |hits| format!("All {hits}"),
        severity: |severity| match severity {
            "error" => "Errors",
            "warning" => "Warnings",
            _ => "Notes",
        },
        first: "first cause",
        explains: |n| format!("{} follow", format::count(n)),
        rank: |rank| format!("rank {rank}"),
        nothing_matches: "No hits match the filter.",
        no_hits: "No hits.",
        inspector: "Tensor of the hit",
        show_curve: "Show in Scalars",
        curve_label: |tag, step, value| format!("{tag} around step {step}, value {value}"),
        no_statistics: "Neither values nor statistics were recorded.",
        elements: "Elements",
        finite: "finite values",
        figures: ["max", "mean", "mean |x|", "min", "std"],
        magnitudes: "Magnitudes",
        magnitudes_label: |from, to| format!("Elements by magnitude, from {from} to {to}"),
        on: |count| format!("{} on", format::count(count)),
        use_recommended: "Use the recommended set",
        confirm_recommended: [
            "Replace the watchpoints of all runs of this folder by the recommended set?",
            "Replace the watchpoints of this run only by the recommended set?",
        ],
        recheck: "Check all recorded steps again",
        judging: |done, all| format!("Checking: {done} of {all}"),
        behind: "The files have grown; checking continues.",
        add: "Add a watchpoint",
        edit: "Edit the watchpoint",
        remove: "Remove",
        save: "Save",
        cancel: "Cancel",
        copy_toml: "Copy as TOML for CI",
        copied: "Copied",
        of_run: "This run only",
        of_all: "Shared by this folder",
        only_run: "Only this run",
        use_those_of_all: "Use the watchpoints of the folder",
        broken: |reason| {
            format!(
                "watchpoints.toml is invalid and was left unchanged; the last valid version is used. {reason}"
            )
        },
        conflict: "Someone else changed the watchpoints; their version is shown. Repeat your change if it is still needed: typed values are kept until you cancel.",
        unreachable: "The server could not be reached; nothing was changed.",
        without_hits: |n| format!("{} without hits", format::count(n)),
        only: |key, names| match key {
            "exclude" => format!("not {names}"),
            _ => format!("only {names}"),
        },
        switched: |title| format!("Changed: {title}"),
        undo: "Undo",
        switch: |title| format!("On: {title}"),
        find_condition: "Find a condition",
        recommended_mark: "recommended",
        matters: "Why it matters",
        not_judged: "Skipped when",
        severity_label: "Severity",
        as_usual: |severity| format!("Default ({severity})"),
        limits: "Limits",
        alert_when: ["Alert when", ""],
        or_and: ["or", "and"],
        with_and: ["with", "and"],
        comparison: |operator| match operator {
            Operator::Above => "is above",
            Operator::AtLeast => "is at least",
            Operator::Below => "is below",
            Operator::AtMost => "is at most",
        },
        quantity: "Quantity",
        comparison_label: "Comparison",
        add_clause: "+ or",
        remove_clause: |limit| format!("Remove “{limit}”"),
        must_be: |kind| match kind {
            ParameterKind::Finite => "must be a number",
            ParameterKind::NotNegative => "must be at least 0",
            ParameterKind::Positive => "must be above 0",
            ParameterKind::Percentage => "must be from 0 to 100",
            ParameterKind::Share => "must be from 0 to 1",
            ParameterKind::Count => "must be a whole number of at least 1",
            ParameterKind::Whole => "must be a whole number of at least 0",
            ParameterKind::Step => "must be a whole number",
            ParameterKind::Switch => "must be on or off",
            ParameterKind::Text | ParameterKind::Names => "must be text",
        },
        needs_limit: "enter a limit",
        advanced: "Advanced",
        which: "Scope",
        off: "off",
        several: "comma-separated",
        steps: "Steps, e.g. 10-200",
        no_range: |text| {
            format!(
                "“{text}” is not a range of steps; all steps are shown. Examples: 10-200, 10-, 412"
            )
        },
        series: |steps, count| {
            [
                format!("steps {steps}"),
                format!("{} steps", format::count(count)),
            ]
        },
        all_ranks: "all ranks",
        back_to_hit: "Back to the hit",
        in_timeline: "Show the step in the timeline",
        over_steps: "Over steps",
        over_steps_label: |from, to| {
            format!("max |x| and mean |x| from step {from} to {to}; click to choose a step")
        },
        nearest_steps: |count| {
            format!(
                "The {} recorded steps nearest to this one.",
                format::count(count)
            )
        },
        all_steps: "All steps",
        source: "Source",
        around: "Around this tensor",
        guessed: "in recording order: no graph connects them",
        around_as: ["Graph", "Tensors"],
        of_node: ["not recorded", "Open in graph"],
        upstream: "from",
        downstream: "to",
        next_hit: "next, previous hit",
        next_step: "previous, next step of the tensor",
        lost: "This hit no longer exists: its file was removed, or the watchpoints changed.",
    },
    keys: KeyTexts {
        title: "Keyboard",
        everywhere: "Everywhere",
        in_runs: "In the list of runs",
        in_charts: "In charts",
        in_debugger: "In the debugger",
        search: "search",
        help: "this help",
        pause: "pause or resume live update",
        escape: "close, leave, clear",
        rows: "next, previous row",
        open: "open the run",
        select: "select the run",
        compare: "compare the selected runs",
        together: "scalars of the selected runs",
        fit: "fit to all steps",
        steps: "previous, next recorded step",
        zoom: "zoom in, out",
        pan: "pan left, right",
        step_back: "back to the range before",
        cards: "next, previous card",
        pin: "pin the card",
        full: "card on the full page",
        drag: "zoom to a range",
        double_click: "fit to all steps",
        wheel_zoom: "zoom",
        wheel_pan: "pan",
        gestures: ["drag", "double-click", "Ctrl wheel", "⇧ wheel"],
        fit_graph: "fit to the page",
        node: "next node in that direction",
        open_scope: "open or close the scope",
        path: "path from here, to here",
        edit: "edit the watchpoint",
        in_steps: "Images, text, tensors, data pipeline",
        other_step: "previous, next step",
        play: "play or stop all steps of images",
        other_tensor: "next, previous tensor",
        operations: "next, previous operation",
        version: |version| format!("trainscope {version}"),
    },
    time: TimeTexts {
        secs_ago: |secs| match secs {
            0 => "just now".to_owned(),
            _ => format!("{secs} s ago"),
        },
        minutes_ago: |minutes| format!("{minutes} min ago"),
        today_at: |clock| format!("today {clock}"),
        yesterday_at: |clock| format!("yesterday {clock}"),
        weekday_at: |day, clock| {
            let day = WEEKDAYS.get(day as usize).copied().unwrap_or("");
            format!("{day} {clock}")
        },
        date: |year, month, day, with_year| {
            let name = MONTHS.get(month as usize - 1).copied().unwrap_or("");
            if with_year {
                format!("{day} {name} {year}")
            } else {
                format!("{day} {name}")
            }
        },
    },
    states: StateTexts {
        nowhere: "There is no page at this address",
        nowhere_next: "The link may be from a newer version, or a part of it is missing.",
        no_run: |run| format!("There is no run {run}"),
        no_run_next: "It may have been renamed before this page was opened, or be in a folder that this server does not watch.",
        all_runs: "All runs",
        no_code_offline: "No connection: this page was not opened before",
        no_code_offline_next: "It is loaded when the server answers again; pages that were open before still work.",
        no_code: "This page could not be loaded",
        no_code_next: "Its code could not be fetched. If the server was updated, reload the page; pages that were open before still work.",
        try_again: "Try again",
        gone: |run| format!("{run} is no longer on the disk."),
        gone_next: "Its folder was removed or renamed. Everything read so far stays until the server is restarted.",
        no_connection: |clock| format!("No connection to the server since {clock}."),
        trying_in: |secs| format!("Trying again in {secs} s."),
        trying: "Trying again now.",
        try_now: "Try now",
        note_conflict: [
            "Someone else changed the same note.",
            "Their version is shown; make your change again if it still makes sense.",
        ],
        note_refused: "The change was not saved.",
        note_unreachable: "The server cannot be reached.",
        new_hits: |hits| many(hits, "new hit", "new hits"),
        paused: "Live update is paused.",
        waiting: |runs| match runs {
            0 => "Nothing has changed since.".to_owned(),
            1 => "1 run has newer points.".to_owned(),
            _ => format!("{runs} runs have newer points."),
        },
        show_them: "Show them",
        loading: "Reading the runs",
        loading_next: "Runs appear as soon as they are read and keep their places.",
        unreachable: "The server cannot be reached",
        unreachable_next: "Is trainscope still running? This page continues when it answers.",
        refused: "The server refused the request",
        misunderstood_next: "Page and server may be of different versions: reload the page.",
    },
    runs: RunsTexts {
        filter_placeholder: "name, or key:value such as status:live",
        filter: "Filter runs",
        remove_term: |term| format!("Remove {term}"),
        state: "State",
        all: |count| format!("All {}", format::count(count)),
        only_damaged: "Runs with damaged, truncated or unreadable files",
        only_healthy: "Runs in which no problem was found",
        only_unjudged: "Runs that were not checked, or only in part",
        only_errors: "Runs with errors",
        only_warnings: "Runs with warnings",
        only_live: "Runs that are being written",
        grouped: "Grouped by folder",
        how_to_record: "How to record",
        name: "Name",
        files: "Health",
        status: "Status",
        steps: "Last step",
        loss: "Loss",
        last: "Last",
        metric: "Metric",
        updated: "Updated",
        duration: "Duration",
        data: "Data",
        select_run: |run| format!("Select {run}"),
        select_all: "Select all runs in view",
        readable: "not judged",
        damaged: |bad, all| of_files(bad, all, "damaged"),
        unreadable: |bad, all| of_files(bad, all, "unreadable"),
        truncated: |bad, all| of_files(bad, all, "truncated"),
        removed: "removed",
        no_files: "no files yet",
        healthy: "no problem found",
        in_part: "partly checked",
        unchecked: "not checked",
        at_step: |step| format!("at {step}"),
        columns: "Columns",
        columns_next: "Up to six extra columns. Saved with the runs.",
        own_columns: "Shown columns",
        find_column: "Find a column",
        last_values: "Last values",
        no_metrics: "No scalars recorded.",
        colour_label: "Colour",
        no_hparams: "No hyper-parameters recorded.",
        note_label: "Note",
        tags_label: "Tags (comma-separated)",
        add_note: "Add a note",
        note_selected: "Tags and a note for the selected runs",
        add_tags: "Add tags (comma-separated)",
        note_for_all: "Note for all of them",
        save_notes: "Save",
        stray_notes: |run| format!("There are notes of {run}, but no such run."),
        stray_next: "Its folder was renamed, moved or deleted.",
        move_notes: |run| format!("Move them to {run}"),
        delete_notes: "Delete them",
        show_files: "Show the files of this run",
        runs: |count| many(count, "run", "runs"),
        damaged_runs: |count| format!("{} damaged", format::count(count)),
        error_runs: |count| format!("{} with errors", format::count(count)),
        live_runs: |count| format!("{} live", format::count(count)),
        top_folder: "base folder",
        base_run: "(this folder)",
        selected: |count| format!("{} selected", format::count(count)),
        selected_hidden: |count| format!("{} not in view", format::count(count)),
        show_scalars: "Show scalars",
        hide: "Hide",
        clear: "Clear the selection",
        hidden: |count| format!("{} hidden", format::count(count)),
        show: "Show",
        unhide: "Unhide",
        is_hidden: "hidden",
        nothing_matches: "No runs match.",
        no_key: |key, keys| format!("No key {key}. Keys: {keys}."),
        suggestions: "Suggestions",
        clear_filter: "Clear the filter",
        kind_count: |kind, count| {
            format!(
                "{kind}: {} recorded, not shown by this version",
                format::count(count)
            )
        },
        kind_none: |kind| format!("{kind}: none recorded"),
        mean_step: |length, steps| match steps {
            1 => format!("A step takes {length}."),
            steps => format!(
                "A step takes {length}, mean of {} steps.",
                format::count(steps)
            ),
        },
        curve: |tag, value| format!("{tag}, last value {value}"),
        kind: |kind| match kind {
            "scalars" => "Scalars",
            "histograms" => "Histograms",
            "images" => "Images",
            "audio" => "Audio",
            "text" => "Text",
            "tensors" => "Tensors",
            "graphs" => "Graph",
            "hparams" => "Hyper-parameters",
            "pr_curves" => "PR curves",
            "custom_scalars" => "Layouts",
            "meshes" => "Meshes",
            "projector" => "Embeddings",
            "lineage" => "Data set",
            "landscapes" => "Loss landscape",
            "explanations" => "Explanations",
            "statistics" => "Tensor statistics",
            "profile" => "Profile",
            "dumps" => "Dumps",
            "hits" => "Hits",
            "losses" => "Lost records",
            "program" => "Facts of the program",
            "input_queues" => "Data pipeline",
            _ => "Other",
        },
    },
    panel: PanelTexts {
        all_whole: |count| {
            if count == 1 {
                "Its file is readable".to_owned()
            } else {
                format!("All {} files are readable", format::count(count))
            }
        },
        damaged: |bad, all| {
            if all == 1 {
                "Its file is damaged".to_owned()
            } else {
                format!("{bad} of {all} files {} damaged", is_or_are(bad))
            }
        },
        unreadable: |bad, all| {
            if all == 1 {
                "Its file cannot be read".to_owned()
            } else {
                format!("{bad} of {all} files cannot be read")
            }
        },
        truncated: |bad, all| {
            if all == 1 {
                "Its file is truncated".to_owned()
            } else {
                format!("{bad} of {all} files {} truncated", is_or_are(bad))
            }
        },
        gone: "Its files are no longer on the disk",
        damaged_next: "Usual causes: the disk was full, the process was killed while writing, or the copy is not complete. Everything before and after the damage is shown.",
        truncated_next: "Nothing to do while the training is running: the file is read again when it grows. Otherwise the process was killed while writing its last record.",
        unreadable_next: "Check the permissions of the file for the user who started the server; it is tried again with every look at the folder.",
        shown_to_step: |step| format!("Everything that could be read is shown, up to step {step}."),
        live: "being written",
        whole: "complete",
        torn_at: |byte| format!("truncated at byte {byte}"),
        damaged_at: |byte| format!("damaged from byte {byte}"),
        unreadable_file: "cannot be read",
        gone_file: "removed",
        format: "Format",
        records: "Records",
        read: "Read",
        of: |part, all| format!("{part} of {all}"),
        skipped: "Damaged bytes",
        lost_records: "Dropped by the writer",
        unknown_records: "Records without known content",
        unread: "Not shown yet",
        reason: "Reason",
        files_cut: "There are more files; the damaged ones are all listed.",
        ranks: |count| format!("Written by {} ranks.", format::count(count)),
        open_scalars: "Show scalars",
    },
    record: RecordTexts {
        empty: |dir| format!("No runs in {dir} yet"),
        empty_next: "Add a few lines to a training; this page fills as soon as the first file appears.",
        title: "How to record",
        next: "Any of these writes files that this page reads, without further settings.",
        copy: "Copy",
        copied: "Copied",
        watching: "watching the folder",
    },
    overview: super::overview::EN,
    compare: &super::compare::EN,
    lineage: &super::lineage::EN,
    graph: super::graph::EN,
    pipeline: &super::pipeline::EN,
    landscape: &super::landscape::EN,
    session: &super::session::EN,
    timeline: &super::timeline::EN,
    profile: &super::profile::EN,
    scalars: super::scalars::EN,
};
