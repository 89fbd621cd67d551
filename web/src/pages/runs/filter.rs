//! What the filter field understands: words, and `key:value` with the keys `folder`, `name`, `status`, `file`, `tag`,
//! `kind`, `steps`, `note`, and the name of any hyper-parameter.
//!
//! All terms must hold. Values are compared without regard to case; `*` stands for any characters, and double quotes
//! keep spaces together. A run without such a hyper-parameter may still have the term in its name, so nothing that is typed
//! is refused.

use trainscope_api::notebook::RunNotes;
use trainscope_api::runs::{FileStatus, Run, RunStatus};
use trainscope_api::tags::TagList;
use trainscope_format::hparams::HparamValue;

use crate::components::split_name;
use crate::typed;

/// Terms that must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Word(String),
    Folder(String),
    Name(String),
    Status(String),
    File(String),
    Tag(String),
    Kind(String),
    Steps(Comparison, i64),
    Note(String),
    Hparam { name: String, value: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
    Exactly,
}

impl Filter {
    /// Reads the text of the field.
    pub(super) fn parse(text: &str) -> Self {
        Self {
            terms: words(text).iter().map(|word| term(word)).collect(),
        }
    }

    /// Whether a term asks for tags, which have to be loaded first.
    pub(super) fn asks_for_tags(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, Term::Tag(_)))
    }

    /// Whether all terms hold. Of a run whose tags are not known, only the names of its loss and metric count.
    pub(super) fn matches(
        &self,
        run: &Run,
        tags: Option<&TagList>,
        notes: Option<&RunNotes>,
    ) -> bool {
        let mut terms = self.terms.iter();
        terms.all(|term| holds(term, run, tags, notes))
    }
}

/// The field's text as chips (whole `key:value` terms with a known key) and the rest that is still typed.
pub(super) fn chips(text: &str) -> (Vec<String>, String) {
    let (chips, rest): (Vec<_>, Vec<_>) = words(text)
        .into_iter()
        .partition(|word| !matches!(term(word), Term::Word(_)));
    (chips, rest.join(" "))
}

/// Splits at spaces outside of double quotes; the quotes stay.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for character in text.chars() {
        if character == '"' {
            quoted = !quoted;
        }
        if character.is_whitespace() && !quoted {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        } else {
            word.push(character);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn term(word: &str) -> Term {
    let plain = || Term::Word(word.replace('"', "").to_lowercase());
    let Some((key, value)) = word.split_once(':') else {
        return plain();
    };
    let value = value.replace('"', "").to_lowercase();
    if value.is_empty() {
        return plain();
    }
    match key.to_lowercase().as_str() {
        "folder" => Term::Folder(value),
        "name" => Term::Name(value),
        "status" => Term::Status(value),
        "file" => Term::File(value),
        "tag" => Term::Tag(value),
        "kind" => Term::Kind(value),
        "steps" => {
            let number =
                comparison(&value).and_then(|(how, number)| Some((how, number.parse().ok()?)));
            number.map_or_else(plain, |(how, steps)| Term::Steps(how, steps))
        }
        "note" => Term::Note(value),
        name => Term::Hparam {
            name: name.to_owned(),
            value,
        },
    }
}

/// A sign and the number after it, as text.
fn comparison(value: &str) -> Option<(Comparison, String)> {
    let signs = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        (">", Comparison::Above),
        ("<", Comparison::Below),
        ("=", Comparison::Exactly),
        ("", Comparison::Exactly),
    ];
    let (number, how) = signs
        .iter()
        .find_map(|(sign, how)| Some((value.strip_prefix(sign)?, *how)))?;
    Some((how, number.replace([',', '_'], "")))
}

fn holds(term: &Term, run: &Run, tags: Option<&TagList>, notes: Option<&RunNotes>) -> bool {
    let is_labelled = |wanted: &str| {
        notes.is_some_and(|notes| notes.tags.iter().any(|tag| contains(tag, wanted)))
    };
    let is_noted = |wanted: &str| notes.is_some_and(|notes| contains(&notes.note, wanted));
    match term {
        Term::Word(word) => contains(&run.id, word) || is_noted(word) || is_labelled(word),
        Term::Name(word) => contains(&run.id, word),
        Term::Note(text) => is_noted(text),
        Term::Hparam { name, value } => {
            let mut named = run.hparams.iter();
            match named.find(|(own, _)| own.to_lowercase() == *name) {
                Some((_, own)) => is_hparam(own, value),
                None => contains(&run.id, &format!("{name}:{value}")),
            }
        }
        Term::Folder(folder) => {
            let own = split_name(&run.id).0.to_lowercase();
            like(&own, folder) || like(&own, &format!("{folder}/*"))
        }
        Term::Status(status) => like(status_name(run.status), status),
        Term::File(state) => run
            .files
            .iter()
            .any(|file| like(file_status_name(file.status), state)),
        Term::Tag(tag) => {
            let shown = [&run.loss, &run.metric].into_iter().flatten();
            shown.into_iter().any(|last| contains(&last.tag, tag))
                || is_labelled(tag)
                || tags.is_some_and(|list| list.tags.iter().any(|entry| contains(&entry.tag, tag)))
        }
        Term::Kind(kind) => run.kinds.iter().any(|(name, count)| {
            *count > 0 && (like(name, kind) || name.trim_end_matches('s') == kind)
        }),
        Term::Steps(how, steps) => run.last_step.is_some_and(|last| how.holds(&last, steps)),
    }
}

impl Comparison {
    fn holds<T: PartialOrd>(self, own: &T, limit: &T) -> bool {
        match self {
            Self::Above => own > limit,
            Self::AtLeast => own >= limit,
            Self::Below => own < limit,
            Self::AtMost => own <= limit,
            Self::Exactly => own == limit,
        }
    }
}

/// Whether a hyper-parameter is what is wanted: a number against a number, anything else as text.
fn is_hparam(own: &HparamValue, wanted: &str) -> bool {
    let number = comparison(wanted).and_then(|(how, number)| Some((how, typed::number(&number)?)));
    match (own, number) {
        (HparamValue::Number(own), Some((how, number))) => how.holds(own, &number),
        (HparamValue::Text(own), _) => contains(own, wanted),
        (HparamValue::Bool(own), _) => like(if *own { "true" } else { "false" }, wanted),
        (HparamValue::Number(_), None) => false,
        (HparamValue::Null, _) => wanted == "none",
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

fn contains(text: &str, wanted: &str) -> bool {
    if wanted.contains('*') {
        like(&text.to_lowercase(), &format!("*{wanted}*"))
    } else {
        text.to_lowercase().contains(wanted)
    }
}

/// Whether the whole of `text` has the form of `pattern`, where `*` stands for any characters.
fn like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let mut parts: Vec<_> = parts.collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::test_runs::run;
    use super::*;
    use trainscope_api::runs::LastValue;

    fn passes(text: &str, run: &Run) -> bool {
        Filter::parse(text).matches(run, None, None)
    }

    #[test]
    fn words_and_keys() {
        let mut resnet = run("vision/resnet18/lr-0.1");
        resnet.last_step = Some(31_280);
        resnet.kinds.insert("histograms".into(), 3);
        for text in [
            "",
            "LR-0.1",
            "resnet vision",
            "folder:vision",
            "folder:vision/resnet18",
            "folder:*",
            "folder:vision/*",
            "status:stopped",
            "steps:>31,000",
            "steps:<=31280",
            "steps:31280",
            "kind:histogram",
            "kind:hist*",
            "name:res*lr",
            "\"resnet18/lr\"",
        ] {
            assert!(passes(text, &resnet), "{text}");
        }
        for text in [
            "adam",
            "folder:resnet18",
            "status:live",
            "steps:>31280",
            "kind:images",
            "file:damaged",
            "resnet adam",
            "lr:0.1",
        ] {
            assert!(!passes(text, &resnet), "{text}");
        }
    }

    #[test]
    fn hyper_parameters_and_notes() {
        let mut own = run("sweep/a");
        own.hparams = BTreeMap::from([
            ("lr".to_owned(), HparamValue::Number(0.01)),
            ("Optimizer".to_owned(), HparamValue::Text("Adam".to_owned())),
            ("amp".to_owned(), HparamValue::Bool(true)),
        ]);
        let notes = RunNotes {
            note: "No loss scaling".to_owned(),
            tags: vec!["baseline".to_owned()],
            ..RunNotes::default()
        };
        let holds = |text: &str| Filter::parse(text).matches(&own, None, Some(&notes));
        for text in [
            "lr:0.01",
            "lr:>0.001",
            "LR:<=1e-2",
            "optimizer:adam",
            "optimizer:a*m",
            "amp:true",
            "note:scaling",
            "tag:base",
            "loss",
            "baseline",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "lr:>0.01",
            "lr:small",
            "optimizer:sgd",
            "amp:false",
            "beta:1",
            "note:best",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn steps_need_a_number() {
        assert!(matches!(term("steps:many"), Term::Word(_)));
        assert!(matches!(term("steps:"), Term::Word(_)));
    }

    #[test]
    fn tags_of_the_row_count_without_loading() {
        let mut bert = run("bert");
        assert!(!passes("tag:loss", &bert));
        bert.loss = Some(LastValue {
            tag: "train/loss".into(),
            rank: 0,
            step: 1,
            value: 1.0,
        });
        assert!(passes("tag:loss", &bert));
        assert!(Filter::parse("tag:loss").asks_for_tags());
    }

    #[test]
    fn chips_are_whole_terms() {
        let (chips, rest) = chips("folder:a foo name:\"b c\" lr:1 status:");
        assert_eq!(chips, ["folder:a", "name:\"b c\"", "lr:1"]);
        assert_eq!(rest, "foo status:");
    }

    #[test]
    fn patterns() {
        assert!(like("abc", "a*c"));
        assert!(like("abc", "*"));
        assert!(!like("abc", "a*b"));
        assert!(!like("ab", "ab*b"));
        assert!(like("", "*"));
    }
}
