//! The filter field of the list of runs. Numbers are compared as displayed: `lr:0.3` matches the single-precision
//! 0.30000001.

use std::collections::BTreeSet;

use trainscope_api::filter::{
    RATE_NAMES, Term, contains, is_class, is_number, is_text, is_truth, like, term, terms, words,
};
use trainscope_api::notebook::RunNotes;
use trainscope_api::runs::{FileStatus, Run, RunStatus};
use trainscope_api::tags::TagList;
use trainscope_format::hparams::HparamValue;

use super::columns::hparam;
use super::order::duration_secs;
use super::run_state::Only;
use trainscope_web_kit::format;
use trainscope_web_kit::run_name::split_name;

/// Keys that every list has.
const KEYS: [&str; 12] = [
    "name", "folder", "status", "health", "steps", "loss", "metric", "duration", "kind", "tag",
    "file", "note",
];
/// Maximum number of suggestions.
const MAX_SUGGESTED: usize = 12;

/// Terms that must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter {
    terms: Vec<Term>,
}

/// Facts about a run that the list of runs does not have.
#[derive(Clone, Copy)]
pub(super) struct RunFacts<'a> {
    /// Tags of the run, once they have arrived.
    pub(super) tags: Option<&'a TagList>,
    /// Notes and tags of the run.
    pub(super) notes: Option<&'a RunNotes>,
    /// Last value of a scalar that has a column.
    pub(super) scalar: &'a dyn Fn(&str) -> Option<f64>,
    /// All known keys. A value of `none` only matches for these.
    pub(super) keys: &'a [String],
}

impl Filter {
    /// Reads the text of the field.
    pub(super) fn parse(text: &str) -> Self {
        Self { terms: terms(text) }
    }

    /// `true` if a term needs tags, which have to be loaded first.
    pub(super) fn asks_for_tags(&self) -> bool {
        self.terms
            .iter()
            .any(|term| term.key.as_deref() == Some("tag"))
    }

    /// `true` if a term asks for runs without a value, which needs [`RunFacts::keys`].
    pub(super) fn asks_for_missing(&self) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| term.any.iter().any(|value| value == "none"))
    }

    /// `true` if all terms match. For a run without loaded tags, only the names of its loss and metric are compared.
    pub(super) fn matches(&self, run: &Run, known: RunFacts<'_>) -> bool {
        self.terms.iter().all(|term| {
            let holds = |value: &String| match &term.key {
                None => is_word(run, value, known),
                Some(key) => is_value(run, key, value, known),
            };
            term.any.iter().any(holds) != term.is_negated
        })
    }

    /// First key of the filter that is not in `keys`.
    pub(super) fn unknown_key(&self, keys: &[String]) -> Option<&str> {
        let asked = self.terms.iter().filter_map(|term| term.key.as_deref());
        asked.into_iter().find(|key| !is_key(key, keys))
    }
}

fn is_key(key: &str, keys: &[String]) -> bool {
    RATE_NAMES.contains(&key) || keys.iter().any(|known| known.to_lowercase() == key)
}

/// All keys: those of every list, hyper-parameters, the tags of losses and metrics, columns.
pub(super) fn keys<'a>(runs: &'a [Run], columns: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut more = BTreeSet::new();
    for run in runs {
        more.extend(run.hparams.keys().map(String::as_str));
        let shown = [&run.loss, &run.metric].into_iter().flatten();
        more.extend(shown.map(|last| last.tag.as_str()));
    }
    more.extend(columns);
    more.retain(|key| !KEYS.contains(key));
    KEYS.into_iter().chain(more).map(str::to_owned).collect()
}

/// Completions of the last word of the field: keys with this prefix, or values of its key.
pub(super) fn suggestions(draft: &str, runs: &[Run], keys: &[String]) -> Vec<String> {
    let word = draft.rsplit(char::is_whitespace).next().unwrap_or_default();
    let (sign, bare) = match word.strip_prefix('-') {
        Some(bare) => ("-", bare),
        None => ("", word),
    };
    let lower = bare.to_lowercase();
    let fitting: Vec<String> = match lower.split_once(':') {
        None => {
            let fitting = keys
                .iter()
                .filter(|key| key.to_lowercase().starts_with(&lower));
            fitting.map(|key| format!("{sign}{key}:")).collect()
        }
        Some((key, begun)) => {
            let mut values = values(key, runs);
            values.retain(|value| value.to_lowercase().starts_with(begun) && value != begun);
            let quoted = |value: String| {
                let needs_quotes = value.contains(char::is_whitespace);
                if needs_quotes {
                    format!("\"{value}\"")
                } else {
                    value
                }
            };
            let values = values.into_iter().map(quoted);
            values.map(|value| format!("{sign}{key}:{value}")).collect()
        }
    };
    fitting.into_iter().take(MAX_SUGGESTED).collect()
}

/// Distinct values of a key in these runs; empty for numbers of the list, such as `steps`.
fn values(key: &str, runs: &[Run]) -> Vec<String> {
    let mut values = BTreeSet::new();
    match key {
        "status" => values.extend(["live", "stopped", "gone"].map(str::to_owned)),
        "health" => values.extend(
            Only::STATES
                .iter()
                .filter_map(|only| only.text())
                .map(str::to_owned),
        ),
        "kind" => values.extend(runs.iter().flat_map(|run| run.kinds.keys().cloned())),
        "folder" => values.extend(runs.iter().map(|run| split_name(&run.id).0.to_owned())),
        "file" => {
            let files = runs.iter().flat_map(|run| &run.files);
            values.extend(files.map(|file| file_status_name(file.status).to_owned()));
        }
        name => {
            let found = runs.iter().filter_map(|run| hparam(run, name));
            values.extend(found.map(|value| super::columns::text(&value)));
        }
    }
    values.remove("");
    values.into_iter().collect()
}

/// Splits the text of the field into chips, which are whole `key:value` terms, and the rest.
pub(super) fn chips(text: &str) -> (Vec<String>, String) {
    let (chips, rest): (Vec<_>, Vec<_>) = words(text)
        .into_iter()
        .partition(|word| term(word).key.is_some());
    (chips, rest.join(" "))
}

/// `true` if a word is in the name, the note or the tags of a run. `NaN` and `Inf` match the values too.
fn is_word(run: &Run, word: &str, known: RunFacts<'_>) -> bool {
    let is_noted = known.notes.is_some_and(|notes| {
        contains(&notes.note, word) || notes.tags.iter().any(|tag| contains(tag, word))
    });
    let has_value = || {
        let shown = [&run.loss, &run.metric].into_iter().flatten();
        shown.into_iter().any(|last| is_class(last.value, word))
    };
    contains(&run.id, word) || is_noted || has_value()
}

fn is_value(run: &Run, key: &str, value: &str, known: RunFacts<'_>) -> bool {
    let is_labelled = || {
        let tags = known.notes.into_iter().flat_map(|notes| &notes.tags);
        tags.into_iter().any(|tag| contains(tag, value))
    };
    let last = [&run.loss, &run.metric];
    let is_missing = value == "none";
    match key {
        "name" => contains(&run.id, value),
        "note" => match known.notes.filter(|notes| !notes.note.is_empty()) {
            Some(notes) => contains(&notes.note, value),
            None => is_missing,
        },
        "folder" => {
            let folder = split_name(&run.id).0.to_lowercase();
            like(&folder, value) || like(&folder, &format!("{value}/*"))
        }
        "status" => like(status_name(run.status), value),
        "health" => is_health(run, value),
        "file" => run
            .files
            .iter()
            .any(|file| like(file_status_name(file.status), value)),
        "tag" => {
            let mut shown = last.into_iter().flatten();
            let mut tags = known.tags.into_iter().flat_map(|list| &list.tags);
            shown.any(|last| contains(&last.tag, value))
                || is_labelled()
                || tags.any(|entry| contains(&entry.tag, value))
        }
        "kind" => run.kinds.iter().any(|(name, count)| {
            *count > 0 && (like(name, value) || name.trim_end_matches('s') == value)
        }),
        "steps" => run.last_step.map_or(is_missing, |step| {
            is_number(step as f64, value, &|step| step.to_string())
        }),
        "loss" | "metric" => {
            let last = last[usize::from(key == "metric")].as_ref();
            last.map_or(is_missing, |last| {
                is_number(last.value, value, &format::cell)
            })
        }
        "duration" => {
            duration_secs(run).map_or(is_missing, |secs| is_number(secs, value, &format::cell))
        }
        name => {
            let tagged = last
                .into_iter()
                .flatten()
                .find(|last| last.tag.to_lowercase() == name);
            let scalar = || {
                tagged
                    .map(|last| last.value)
                    .or_else(|| (known.scalar)(name))
            };
            match hparam(run, name) {
                Some(setting) => is_hparam(&setting, value),
                None => match scalar() {
                    Some(number) => is_number(number, value, &format::cell),
                    None if is_missing && is_key(name, known.keys) => true,
                    None => contains(&run.id, &format!("{name}:{value}")),
                },
            }
        }
    }
}

/// `true` if the value names the health of a run, or is in the title of its first finding.
fn is_health(run: &Run, value: &str) -> bool {
    let state = Only::of(run).text().unwrap_or_default();
    let first = run.health.as_ref().and_then(|health| health.first.as_ref());
    like(state, value)
        || state.trim_end_matches('s') == value
        || first.is_some_and(|first| {
            contains(&first.title.en, value) || contains(&first.title.zh, value)
        })
}

/// `true` if a hyper-parameter equals the value: numbers numerically, others as text.
fn is_hparam(value: &HparamValue, wanted: &str) -> bool {
    match value {
        HparamValue::Number(number) => is_number(*number, wanted, &format::cell),
        HparamValue::Text(text) => is_text(text, wanted),
        HparamValue::Bool(yes) => is_truth(*yes, wanted),
        HparamValue::Null => wanted == "none",
    }
}

const fn status_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Live => "live",
        RunStatus::Stopped => "stopped",
        RunStatus::Gone => "gone",
    }
}

const fn file_status_name(status: FileStatus) -> &'static str {
    match status {
        FileStatus::Live => "live",
        FileStatus::Complete => "complete",
        FileStatus::Truncated => "truncated",
        FileStatus::Damaged => "damaged",
        FileStatus::Unreadable => "unreadable",
        FileStatus::Gone => "gone",
    }
}

#[cfg(test)]
mod tests;
