//! The texts around every page: their names and what each is for.

use trainscope_api::findings::Counts;

/// Rail, bar, search, help.
pub struct FrameTexts {
    pub runs: &'static str,
    pub scalars: &'static str,
    pub help: &'static str,
    pub main_navigation: &'static str,
    pub switch_run: &'static str,
    pub find_run: &'static str,
    pub search: &'static str,
    /// Nothing found.
    pub search_nothing: fn(&str) -> String,
    pub found_pages: &'static str,
    pub found_runs: &'static str,
    pub found_tags: &'static str,
    /// Tags of other runs than the page's.
    pub found_tags_of_runs: &'static str,
    pub found_nodes: &'static str,
    /// Numbers of hits of a run: errors and warnings, then notes.
    pub hits: fn(Counts) -> String,
    pub step: &'static str,
    pub live: &'static str,
    pub stopped: &'static str,
    pub gone: &'static str,
    pub unknown: &'static str,
    pub skip: &'static str,
    /// Time of the newest points; the argument is an age.
    pub updated: fn(&str) -> String,
    pub pause: &'static str,
    pub resume: &'static str,
    pub paused: &'static str,
    pub offline: &'static str,
    pub other_language: &'static str,
    pub dark_theme: &'static str,
    pub light_theme: &'static str,
    pub close: &'static str,
    /// Reading progress of the server: bytes, total, files.
    pub reading: fn(&str, &str, u64) -> String,
    /// Below the title of the list: runs, folders, size.
    pub runs_summary: fn(u64, u64, &str) -> String,
    pub runs_cut: &'static str,
}

/// Descriptions of keyboard shortcuts for the help panel.
pub struct KeyTexts {
    pub title: &'static str,
    pub everywhere: &'static str,
    pub in_runs: &'static str,
    pub in_charts: &'static str,
    pub in_debugger: &'static str,
    pub search: &'static str,
    pub help: &'static str,
    pub pause: &'static str,
    pub escape: &'static str,
    pub rows: &'static str,
    pub open: &'static str,
    pub select: &'static str,
    pub compare: &'static str,
    pub together: &'static str,
    pub fit: &'static str,
    pub steps: &'static str,
    pub zoom: &'static str,
    pub pan: &'static str,
    pub step_back: &'static str,
    pub cards: &'static str,
    pub pin: &'static str,
    pub full: &'static str,
    pub drag: &'static str,
    pub double_click: &'static str,
    pub wheel_zoom: &'static str,
    pub wheel_pan: &'static str,
    /// Names of gestures: drag, double-click, `Ctrl` with the wheel, `⇧` with the wheel.
    pub gestures: [&'static str; 4],
    pub fit_graph: &'static str,
    pub node: &'static str,
    pub open_scope: &'static str,
    pub path: &'static str,
    pub edit: &'static str,
    pub in_steps: &'static str,
    pub other_step: &'static str,
    pub play: &'static str,
    pub other_tensor: &'static str,
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
    pub nowhere: &'static str,
    pub nowhere_next: &'static str,
    /// Title: no run of that name.
    pub no_run: fn(&str) -> String,
    pub no_run_next: &'static str,
    pub all_runs: &'static str,
    pub no_code_offline: &'static str,
    pub no_code_offline_next: &'static str,
    pub no_code: &'static str,
    pub no_code_next: &'static str,
    pub try_again: &'static str,
    /// Title of a run whose files were removed.
    pub gone: fn(&str) -> String,
    pub gone_next: &'static str,
    /// No connection since a clock time.
    pub no_connection: fn(&str) -> String,
    /// Seconds until the next attempt.
    pub trying_in: fn(u32) -> String,
    pub trying: &'static str,
    pub try_now: &'static str,
    /// Conflict with a concurrent note on the same subject: title and explanation.
    pub note_conflict: [&'static str; 2],
    pub note_refused: &'static str,
    pub note_unreachable: &'static str,
    /// For screen readers: number of hits since the page was opened.
    pub new_hits: fn(u64) -> String,
    pub paused: &'static str,
    /// Number of runs with new data.
    pub waiting: fn(usize) -> String,
    pub show_them: &'static str,
    pub loading: &'static str,
    pub loading_next: &'static str,
    pub unreachable: &'static str,
    pub unreachable_next: &'static str,
    pub refused: &'static str,
    pub misunderstood_next: &'static str,
}
