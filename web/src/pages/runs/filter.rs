//! What the filter field understands: words, and `key:value` with the keys `folder`, `name`, `status`, `file`, `tag`,
//! `kind` and `steps`.
//!
//! All terms must hold. Values are compared without regard to case; `*` stands for any characters, and double quotes
//! keep spaces together. A key that is not known is a word like any other, so nothing that is typed is refused.

use trainscope_api::runs::{FileStatus, Run, RunStatus};
use trainscope_api::tags::TagList;

use crate::components::split_name;

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
    pub(super) fn matches(&self, run: &Run, tags: Option<&TagList>) -> bool {
        self.terms.iter().all(|term| holds(term, run, tags))
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
        "steps" => comparison(&value).map_or_else(plain, |(how, steps)| Term::Steps(how, steps)),
        _ => plain(),
    }
}

fn comparison(value: &str) -> Option<(Comparison, i64)> {
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
    Some((how, number.replace([',', '_'], "").parse().ok()?))
}

fn holds(term: &Term, run: &Run, tags: Option<&TagList>) -> bool {
    match term {
        Term::Word(word) | Term::Name(word) => contains(&run.id, word),
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
                || tags.is_some_and(|list| list.tags.iter().any(|entry| contains(&entry.tag, tag)))
        }
        Term::Kind(kind) => run.kinds.iter().any(|(name, count)| {
            *count > 0 && (like(name, kind) || name.trim_end_matches('s') == kind)
        }),
        Term::Steps(how, steps) => run.last_step.is_some_and(|last| match how {
            Comparison::Above => last > *steps,
            Comparison::AtLeast => last >= *steps,
            Comparison::Below => last < *steps,
            Comparison::AtMost => last <= *steps,
            Comparison::Exactly => last == *steps,
        }),
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
    use super::super::test_runs::run;
    use super::*;
    use trainscope_api::runs::LastValue;

    fn passes(text: &str, run: &Run) -> bool {
        Filter::parse(text).matches(run, None)
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
        assert_eq!(chips, ["folder:a", "name:\"b c\""]);
        assert_eq!(rest, "foo lr:1 status:");
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
