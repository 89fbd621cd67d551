//! The texts of the list of runs, of the panel of a run's files, and of how to record.

/// The list of runs.
pub struct RunsTexts {
    pub filter_placeholder: &'static str,
    pub filter: &'static str,
    /// Label of the × of a chip: its text.
    pub remove_term: fn(&str) -> String,
    pub state: &'static str,
    /// Button: all, with the count.
    pub all: fn(u64) -> String,
    pub only_damaged: &'static str,
    pub only_healthy: &'static str,
    pub only_unjudged: &'static str,
    pub only_errors: &'static str,
    pub only_warnings: &'static str,
    pub only_live: &'static str,
    pub grouped: &'static str,
    pub how_to_record: &'static str,
    pub name: &'static str,
    pub files: &'static str,
    pub status: &'static str,
    pub steps: &'static str,
    pub loss: &'static str,
    pub last: &'static str,
    pub metric: &'static str,
    pub updated: &'static str,
    pub duration: &'static str,
    pub data: &'static str,
    /// Label of the tick box of a row.
    pub select_run: fn(&str) -> String,
    pub select_all: &'static str,
    pub readable: &'static str,
    /// Files: bad of all.
    pub damaged: fn(u64, u64) -> String,
    /// Files: bad of all.
    pub unreadable: fn(u64, u64) -> String,
    /// Files: the last record is not whole yet.
    pub truncated: fn(u64, u64) -> String,
    pub removed: &'static str,
    pub no_files: &'static str,
    pub healthy: &'static str,
    pub in_part: &'static str,
    pub unchecked: &'static str,
    /// When something was found first.
    pub at_step: fn(&str) -> String,
    pub columns: &'static str,
    pub columns_next: &'static str,
    pub find_column: &'static str,
    pub own_columns: &'static str,
    pub last_values: &'static str,
    pub no_metrics: &'static str,
    pub colour_label: &'static str,
    pub no_hparams: &'static str,
    pub note_label: &'static str,
    pub tags_label: &'static str,
    pub add_note: &'static str,
    pub note_selected: &'static str,
    pub add_tags: &'static str,
    pub note_for_all: &'static str,
    pub save_notes: &'static str,
    /// Notes of a run that does not exist: the sentence, and what can be done, with the name of a similar run.
    pub stray_notes: fn(&str) -> String,
    pub stray_next: &'static str,
    pub move_notes: fn(&str) -> String,
    pub delete_notes: &'static str,
    pub show_files: &'static str,
    /// Group summary: number of runs.
    pub runs: fn(u64) -> String,
    /// Group summary: number of damaged runs.
    pub damaged_runs: fn(u64) -> String,
    /// Part of a folder's summary: runs in which errors were found.
    pub error_runs: fn(u64) -> String,
    /// Group summary: number of growing runs.
    pub live_runs: fn(u64) -> String,
    pub top_folder: &'static str,
    pub base_run: &'static str,
    /// Bar: number selected.
    pub selected: fn(u64) -> String,
    /// Bar: number of these that are not in view.
    pub selected_hidden: fn(u64) -> String,
    pub show_scalars: &'static str,
    pub hide: &'static str,
    pub clear: &'static str,
    /// Chip: number of hidden runs.
    pub hidden: fn(u64) -> String,
    pub show: &'static str,
    pub unhide: &'static str,
    pub is_hidden: &'static str,
    pub nothing_matches: &'static str,
    /// The filter has a key that there is not: the key, all keys.
    pub no_key: fn(&str, &str) -> String,
    pub suggestions: &'static str,
    pub clear_filter: &'static str,
    /// Title of an icon: kind and count, and that no page shows it yet.
    pub kind_count: fn(&str, u64) -> String,
    /// Title of an icon of a kind without data.
    pub kind_none: fn(&str) -> String,
    /// Description of a curve for screen readers: tag, last value. Mean step of a profile: its length, number of steps.
    pub mean_step: fn(&str, u64) -> String,
    pub curve: fn(&str, &str) -> String,
    /// Name of a kind of data as the API names it.
    pub kind: fn(&str) -> &'static str,
}

/// The files of a run.
pub struct PanelTexts {
    /// Title: every file is whole.
    pub all_whole: fn(u64) -> String,
    /// Title: bad of all are damaged.
    pub damaged: fn(u64, u64) -> String,
    /// Title: files cannot be read.
    pub unreadable: fn(u64, u64) -> String,
    /// Title: files end in the middle of a record.
    pub truncated: fn(u64, u64) -> String,
    pub gone: &'static str,
    pub damaged_next: &'static str,
    pub truncated_next: &'static str,
    pub unreadable_next: &'static str,
    /// Highest step displayed.
    pub shown_to_step: fn(&str) -> String,
    pub live: &'static str,
    pub whole: &'static str,
    /// State of a file, with the byte.
    pub torn_at: fn(&str) -> String,
    /// State of a file, with the byte.
    pub damaged_at: fn(&str) -> String,
    pub unreadable_file: &'static str,
    pub gone_file: &'static str,
    pub format: &'static str,
    pub records: &'static str,
    pub read: &'static str,
    /// Value: bytes of bytes.
    pub of: fn(&str, &str) -> String,
    pub skipped: &'static str,
    pub lost_records: &'static str,
    pub unknown_records: &'static str,
    pub unread: &'static str,
    pub reason: &'static str,
    pub files_cut: &'static str,
    /// Number of ranks that wrote the run.
    pub ranks: fn(u64) -> String,
    pub open_scalars: &'static str,
}

/// Instructions for recording.
pub struct RecordTexts {
    /// Title when there are no runs: the folder.
    pub empty: fn(&str) -> String,
    pub empty_next: &'static str,
    pub title: &'static str,
    pub next: &'static str,
    pub copy: &'static str,
    pub copied: &'static str,
    pub watching: &'static str,
}
