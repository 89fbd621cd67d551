//! The texts of the list of runs, of the panel of a run's files, and of how to record.

/// The list of runs.
pub struct RunsTexts {
    /// Placeholder of the filter.
    pub filter_placeholder: &'static str,
    /// Label of the filter.
    pub filter: &'static str,
    /// Label of the × of a chip: its text.
    pub remove_term: fn(&str) -> String,
    /// Label of the group of state buttons.
    pub state: &'static str,
    /// Button: all, with the count.
    pub all: fn(u64) -> String,
    /// Title of a button.
    pub only_damaged: &'static str,
    /// Title of a button.
    pub only_healthy: &'static str,
    /// Title of a button.
    pub only_unjudged: &'static str,
    pub only_errors: &'static str,
    pub only_warnings: &'static str,
    /// Title of a button.
    pub only_live: &'static str,
    /// Switch.
    pub grouped: &'static str,
    pub how_to_record: &'static str,
    pub name: &'static str,
    pub files: &'static str,
    pub status: &'static str,
    pub steps: &'static str,
    /// Head, if the runs do not agree on a tag.
    pub loss: &'static str,
    /// Head of the last value of the loss.
    pub last: &'static str,
    /// Head, if the runs do not agree on a tag.
    pub metric: &'static str,
    pub updated: &'static str,
    pub duration: &'static str,
    pub data: &'static str,
    /// Label of the tick box of a row.
    pub select_run: fn(&str) -> String,
    /// Label of the tick box in the head.
    pub select_all: &'static str,
    /// Nothing is known of the training itself.
    pub readable: &'static str,
    /// Files: bad of all.
    pub damaged: fn(u64, u64) -> String,
    /// Files: bad of all.
    pub unreadable: fn(u64, u64) -> String,
    /// Files: the last record is not whole yet.
    pub truncated: fn(u64, u64) -> String,
    /// Files: removed.
    pub removed: &'static str,
    /// Files: none yet.
    pub no_files: &'static str,
    /// Nothing was found.
    pub healthy: &'static str,
    /// Nothing was found, and no tensor was checked.
    pub in_part: &'static str,
    /// Nothing was checked.
    pub unchecked: &'static str,
    /// When something was found first.
    pub at_step: fn(&str) -> String,
    /// Button and title of the panel.
    pub columns: &'static str,
    /// In the panel, above the names.
    pub columns_next: &'static str,
    /// Label of the input that finds a column in the panel.
    pub find_column: &'static str,
    /// In the panel, above the columns that every list has.
    pub own_columns: &'static str,
    /// In the panel, above the scalars.
    pub last_values: &'static str,
    /// In the panel: no scalars.
    pub no_metrics: &'static str,
    /// Label of the choice of a run's colour.
    pub colour_label: &'static str,
    /// In the panel: no run has any.
    pub no_hparams: &'static str,
    /// Head of the column and label of the field of a run's note.
    pub note_label: &'static str,
    /// Label of the field of a run's words.
    pub tags_label: &'static str,
    /// In the cell of a run without a note.
    pub add_note: &'static str,
    /// Title of the link to the files of a run.
    pub show_files: &'static str,
    /// Group summary: number of runs.
    pub runs: fn(u64) -> String,
    /// Group summary: number of damaged runs.
    pub damaged_runs: fn(u64) -> String,
    /// Part of a folder's summary: runs in which errors were found.
    pub error_runs: fn(u64) -> String,
    /// Group summary: number of growing runs.
    pub live_runs: fn(u64) -> String,
    /// Name of the group of runs without a folder.
    pub top_folder: &'static str,
    /// Name of the run that is the base directory itself.
    pub base_run: &'static str,
    /// Bar: number selected.
    pub selected: fn(u64) -> String,
    /// Bar: of these so many are not in view.
    pub selected_hidden: fn(u64) -> String,
    /// Bar: button.
    pub show_scalars: &'static str,
    /// Bar: button.
    pub hide: &'static str,
    /// Bar: button.
    pub clear: &'static str,
    /// Chip: number of hidden runs.
    pub hidden: fn(u64) -> String,
    /// Button on the chip.
    pub show: &'static str,
    /// Bar: button.
    pub unhide: &'static str,
    /// Beside the name of a run that is hidden for everybody.
    pub is_hidden: &'static str,
    /// Nothing passes the filter.
    pub nothing_matches: &'static str,
    /// The filter has a key that there is not: the key, all keys.
    pub no_key: fn(&str, &str) -> String,
    /// Label of the list of suggestions under the filter.
    pub suggestions: &'static str,
    pub clear_filter: &'static str,
    /// Title of an icon: kind and count, and that no page shows it yet.
    pub kind_count: fn(&str, u64) -> String,
    /// Title of an icon of a kind without data.
    pub kind_none: fn(&str) -> String,
    /// Description of a curve for screen readers: tag, last value.
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
    /// Title: gone.
    pub gone: &'static str,
    /// Advice about a damaged file.
    pub damaged_next: &'static str,
    /// Advice about a truncated file.
    pub truncated_next: &'static str,
    /// Advice about a file that cannot be opened.
    pub unreadable_next: &'static str,
    /// Highest step displayed.
    pub shown_to_step: fn(&str) -> String,
    /// State of a file.
    pub live: &'static str,
    /// State of a file.
    pub whole: &'static str,
    /// State of a file, with the byte.
    pub torn_at: fn(&str) -> String,
    /// State of a file, with the byte.
    pub damaged_at: fn(&str) -> String,
    /// State of a file.
    pub unreadable_file: &'static str,
    /// State of a file.
    pub gone_file: &'static str,
    /// Row: format.
    pub format: &'static str,
    /// Row: records.
    pub records: &'static str,
    /// Row: bytes read of all.
    pub read: &'static str,
    /// Value: bytes of bytes.
    pub of: fn(&str, &str) -> String,
    /// Row: bytes in damaged stretches.
    pub skipped: &'static str,
    /// Name of the number of records that the program could not write.
    pub lost_records: &'static str,
    /// Row: whole records without known content.
    pub unknown_records: &'static str,
    /// Row: kinds that are counted but not read.
    pub unread: &'static str,
    /// Row: what is wrong.
    pub reason: &'static str,
    /// Not every file is listed.
    pub files_cut: &'static str,
    /// Number of ranks that wrote the run.
    pub ranks: fn(u64) -> String,
    /// Link to the scalars.
    pub open_scalars: &'static str,
}

/// Instructions for recording.
pub struct RecordTexts {
    /// Title when there are no runs: the folder.
    pub empty: fn(&str) -> String,
    /// Below it.
    pub empty_next: &'static str,
    /// Title of the panel.
    pub title: &'static str,
    /// Below the title of the panel.
    pub next: &'static str,
    pub copy: &'static str,
    /// After the button was used.
    pub copied: &'static str,
    /// The server watches the folder and the stream is open.
    pub watching: &'static str,
}
