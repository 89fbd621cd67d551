//! The texts around every page: their names and what each is for.

/// Rail, bar, search, help.
pub struct FrameTexts {
    /// Entry of the rail, title of the page.
    pub runs: &'static str,
    /// Entry of the rail inside a run.
    pub scalars: &'static str,
    /// Entry of the rail.
    pub help: &'static str,
    /// Label of the rail for screen readers.
    pub main_navigation: &'static str,
    /// Label of the list of runs in the bar.
    pub switch_run: &'static str,
    /// Field in the list of runs in the bar.
    pub find_run: &'static str,
    /// Placeholder of the search field.
    pub search: &'static str,
    /// Nothing found.
    pub search_nothing: fn(&str) -> String,
    /// Heading over runs among the results.
    pub found_runs: &'static str,
    /// Heading over tags among the results.
    pub found_tags: &'static str,
    /// Heading over nodes of the run's graph among the results.
    pub found_nodes: &'static str,
    /// Word before the highest step.
    pub step: &'static str,
    /// A run that grows.
    pub live: &'static str,
    /// A run that does not.
    pub stopped: &'static str,
    /// A run whose files were removed.
    pub gone: &'static str,
    /// Status of a live run while the server cannot be reached.
    pub unknown: &'static str,
    /// Link to the content of the page, for the keyboard.
    pub skip: &'static str,
    /// Time of the newest points; the argument is an age.
    pub updated: fn(&str) -> String,
    pub pause: &'static str,
    pub resume: &'static str,
    /// Instead of the age while paused.
    pub paused: &'static str,
    /// Instead of the age without a connection.
    pub offline: &'static str,
    /// Button that changes to the other language, named in that language.
    pub other_language: &'static str,
    pub dark_theme: &'static str,
    pub light_theme: &'static str,
    /// Button that closes a panel.
    pub close: &'static str,
    /// Reading progress of the server: bytes, total, files.
    pub reading: fn(&str, &str, u64) -> String,
    /// Below the title of the list: runs, folders, size.
    pub runs_summary: fn(u64, u64, &str) -> String,
    /// Runs were left out of the answer.
    pub runs_cut: &'static str,
}

/// Descriptions of keyboard shortcuts for the help panel.
pub struct KeyTexts {
    /// Title of the panel.
    pub title: &'static str,
    /// Heading of the keys that work everywhere.
    pub everywhere: &'static str,
    /// Heading of the keys of the list of runs.
    pub in_runs: &'static str,
    /// Heading of the keys of charts.
    pub in_charts: &'static str,
    /// Heading of the keys of the debugger.
    pub in_debugger: &'static str,
    /// `/`
    pub search: &'static str,
    /// `?`
    pub help: &'static str,
    /// `.`
    pub pause: &'static str,
    /// `Esc`
    pub escape: &'static str,
    /// `j` `k`
    pub rows: &'static str,
    /// `↵`
    pub open: &'static str,
    /// `x`
    pub select: &'static str,
    /// `c`
    pub together: &'static str,
    /// `f`
    pub fit: &'static str,
    /// `← →`
    pub steps: &'static str,
    /// `w` `s`
    pub zoom: &'static str,
    /// `a` `d`
    pub pan: &'static str,
    /// `z`
    pub step_back: &'static str,
    /// `j` `k` among cards
    pub cards: &'static str,
    /// `p`
    pub pin: &'static str,
    /// `o`
    pub full: &'static str,
    /// Drag over a chart.
    pub drag: &'static str,
    /// Double-click on a chart.
    pub double_click: &'static str,
    /// Wheel with `Ctrl`.
    pub wheel_zoom: &'static str,
    /// Wheel or drag with `⇧`.
    pub wheel_pan: &'static str,
    /// Names of gestures: drag, double-click, `Ctrl` with the wheel, `⇧` with the wheel.
    pub gestures: [&'static str; 4],
    /// `f` in the graph.
    pub fit_graph: &'static str,
    /// Arrows in the graph.
    pub node: &'static str,
    /// `↵` in the graph.
    pub open_scope: &'static str,
    /// `p` in the graph.
    pub path: &'static str,
    /// `e` in the debugger.
    pub edit: &'static str,
    /// Heading of the keys of pages of steps: images, text, tensors.
    pub in_steps: &'static str,
    /// `← →` on those pages.
    pub other_step: &'static str,
    /// Space on the page of pictures.
    pub play: &'static str,
    /// `j` `k` among tensors.
    pub other_tensor: &'static str,
    /// `j` `k` among operations of a data pipeline.
    pub operations: &'static str,
    /// Program version; the argument is the version number.
    pub version: fn(&str) -> String,
}

/// Ages and dates.
pub struct TimeTexts {
    /// `2 s ago`
    pub secs_ago: fn(u64) -> String,
    /// `6 min ago`
    pub minutes_ago: fn(u64) -> String,
    /// `today 02:20`
    pub today_at: fn(&str) -> String,
    /// `yesterday 02:20`
    pub yesterday_at: fn(&str) -> String,
    /// `Tue 23:48`; 0 is Sunday.
    pub weekday_at: fn(u32, &str) -> String,
    /// `14 Nov` or, with the flag, `14 Nov 2025`: year, month from 1, day.
    pub date: fn(u32, u32, u32, bool) -> String,
}

/// States of any page: a title that says what is, a sentence that says what to do next.
pub struct StateTexts {
    /// Title: nothing at this address.
    pub nowhere: &'static str,
    pub nowhere_next: &'static str,
    /// Title: no run of that name.
    pub no_run: fn(&str) -> String,
    pub no_run_next: &'static str,
    /// Button to the list of runs.
    pub all_runs: &'static str,
    /// Title of a page whose code could not be fetched.
    pub no_code: &'static str,
    /// Cause, and the next step.
    pub no_code_next: &'static str,
    /// Button that fetches it again.
    pub try_again: &'static str,
    /// Title of a run whose files were removed.
    pub gone: fn(&str) -> String,
    pub gone_next: &'static str,
    /// No connection since a clock time.
    pub no_connection: fn(&str) -> String,
    /// Seconds until the next attempt.
    pub trying_in: fn(u32) -> String,
    /// An attempt is under way.
    pub trying: &'static str,
    pub try_now: &'static str,
    /// Conflict with a concurrent note on the same subject: title and explanation.
    pub note_conflict: [&'static str; 2],
    /// A note could not be written: title; what follows is the server's reason.
    pub note_refused: &'static str,
    /// Consequence when the server could not be reached.
    pub note_unreachable: &'static str,
    /// For screen readers: so many hits since the page was opened.
    pub new_hits: fn(u64) -> String,
    /// Live update is paused.
    pub paused: &'static str,
    /// Number of runs with new data.
    pub waiting: fn(usize) -> String,
    /// Button: apply the news, stay paused.
    pub show_them: &'static str,
    /// Title while the first list loads.
    pub loading: &'static str,
    /// Sentence while the server reads a cold start.
    pub loading_next: &'static str,
    /// Title: the server cannot be reached and nothing was read.
    pub unreachable: &'static str,
    pub unreachable_next: &'static str,
    /// Title: the server refused or answered nonsense.
    pub refused: &'static str,
    /// Advice when the answer of the server could not be parsed.
    pub misunderstood_next: &'static str,
}
