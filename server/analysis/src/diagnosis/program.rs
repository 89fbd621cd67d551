//! Rules about facts of the program: its loss, optimizers, gradients, batches and modes, as seen by the collector.
//!
//! Every number of a fact is optional: a rule without it does not judge. The names of kinds, numbers and texts are
//! those of FORMAT.md.

mod data;
mod gradients;
mod loss;
mod modes;
mod numbers;
mod optimizer;

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_format::digits;
use trainscope_format::program::{ProgramFact, SourceLine};

use super::{Opinion, Rule, State};

/// Maximum number of facts with different kinds or subjects, of all ranks. A program has some dozens.
const MAX_FACTS: usize = 4096;
/// Maximum size of all texts together in bytes: some hundred times the texts of a program.
const MAX_BYTES: usize = 32 << 20;
/// Maximum number of characters of a text in a sentence. Chosen.
const MAX_CHARACTERS: usize = 240;

/// The first and the last fact of a kind and subject.
#[derive(Clone, Debug)]
struct SeenFact {
    first: (i64, ProgramFact),
    /// The newest one, if there are several.
    last: Option<(i64, ProgramFact)>,
    /// Updates of the optimizer when its rate became low, as long as it stays low.
    low_since: Option<f64>,
}

/// Facts of a program, by kind, subject and rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    seen: BTreeMap<(String, String, u32), SeenFact>,
    len_bytes: usize,
}

/// A fact with its rank, for rules: numbers and texts are those of the newest one.
#[derive(Clone, Copy, Debug)]
struct Fact<'a> {
    rank: u32,
    subject: &'a str,
    seen: &'a SeenFact,
}

impl Facts {
    /// Adds a fact. Beyond the limits, facts of new subjects are left out.
    pub(super) fn learn(&mut self, rank: u32, step: i64, fact: &ProgramFact) {
        let len_bytes = len_of(fact);
        let key = (fact.kind.clone(), fact.subject.clone(), rank);
        if let Some(seen) = self.seen.get_mut(&key) {
            let (older, is_first) = match &seen.last {
                // Of several at the first step, the last one counts.
                None if step == seen.first.0 => {
                    let total = (self.len_bytes + len_bytes).saturating_sub(len_of(&seen.first.1));
                    if total <= MAX_BYTES {
                        self.len_bytes = total;
                        optimizer::note_rate(&mut seen.low_since, fact);
                        seen.first.1 = fact.clone();
                    }
                    return;
                }
                _ if step < seen.first.0 => (Some(len_of(&seen.first.1)), true),
                Some((newest, _)) if step < *newest => (None, false),
                last => (
                    Some(last.as_ref().map_or(0, |previous| len_of(&previous.1))),
                    false,
                ),
            };
            let Some(older) = older else { return };
            let total = (self.len_bytes + len_bytes).saturating_sub(older);
            if total > MAX_BYTES {
                return;
            }
            self.len_bytes = total;
            if is_first {
                let before = std::mem::replace(&mut seen.first, (step, fact.clone()));
                if seen.last.is_none() {
                    self.len_bytes += len_of(&before.1);
                    seen.last = Some(before);
                }
            } else {
                optimizer::note_rate(&mut seen.low_since, fact);
                seen.last = Some((step, fact.clone()));
            }
            return;
        }
        if self.seen.len() >= MAX_FACTS || self.len_bytes + len_bytes > MAX_BYTES {
            return;
        }
        self.len_bytes += len_bytes;
        let mut low_since = None;
        optimizer::note_rate(&mut low_since, fact);
        let seen = SeenFact {
            first: (step, fact.clone()),
            last: None,
            low_since,
        };
        self.seen.insert(key, seen);
    }

    /// Facts of a kind, by subject and then by rank.
    fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = Fact<'a>> {
        let of_kind = self.seen.iter().filter(move |(key, _)| key.0 == kind);
        of_kind.map(|(key, seen)| Fact {
            rank: key.2,
            subject: &key.1,
            seen,
        })
    }

    /// Results of all rules: their faults and notes, or else one result: nothing is wrong, or unknown.
    pub(super) fn judge(&self) -> Vec<(Rule, Opinion)> {
        let mut all = Vec::new();
        if self.seen.is_empty() {
            return all;
        }
        loss::judge(self, &mut all);
        optimizer::judge(self, &mut all);
        gradients::judge(self, &mut all);
        data::judge(self, &mut all);
        modes::judge(self, &mut all);
        numbers::judge(self, &mut all);
        settled(all)
    }
}

/// Keeps the faults and notes of each rule, one for each subject regardless of the number of ranks. A rule without them
/// keeps its first result.
fn settled(all: Vec<(Rule, Opinion)>) -> Vec<(Rule, Opinion)> {
    let mut kept: Vec<(Rule, Opinion)> = Vec::new();
    for (rule, opinion) in all {
        let mut known = kept.iter_mut().filter(|(judged, _)| *judged == rule);
        let same = known.find(|(_, earlier)| {
            let is_found = earlier.state > State::Fine && opinion.state > State::Fine;
            !is_found || earlier.object == opinion.object
        });
        match same {
            Some((_, earlier)) if earlier.state < opinion.state => *earlier = opinion,
            Some(_) => {}
            None => kept.push((rule, opinion)),
        }
    }
    kept
}

fn len_of(fact: &ProgramFact) -> usize {
    let texts = fact
        .texts
        .iter()
        .map(|(name, text)| name.len() + text.len());
    let numbers = fact.numbers.iter().map(|(name, _)| name.len() + 8);
    let source = fact.source.as_ref();
    let source = source.map_or(0, |line| {
        line.file.len() + line.excerpt.len() + line.function.len()
    });
    texts.sum::<usize>() + numbers.sum::<usize>() + source + fact.kind.len() + fact.subject.len()
}

impl<'a> Fact<'a> {
    /// The newest fact.
    fn last(&self) -> &'a ProgramFact {
        self.seen
            .last
            .as_ref()
            .map_or(&self.seen.first.1, |newest| &newest.1)
    }

    /// A finite number of the newest fact.
    fn number(&self, name: &str) -> Option<f64> {
        self.last().number(name).filter(|value| value.is_finite())
    }

    /// A finite number of the first fact.
    fn first_number(&self, name: &str) -> Option<f64> {
        let first = self.seen.first.1.number(name);
        first.filter(|value| value.is_finite())
    }

    /// True if the number is recorded and not 0.
    fn is(&self, name: &str) -> bool {
        self.number(name).is_some_and(|value| value != 0.0)
    }

    /// A text of the newest fact, for sentences.
    fn text(&self, name: &str) -> String {
        shown(self.last().text(name))
    }

    /// The subject without the number of its repetition: `cross_entropy` of `cross_entropy#2`.
    fn plain(&self) -> &'a str {
        self.subject.split('#').next().unwrap_or_default()
    }

    /// The subject, for sentences; a name for the whole if it is empty.
    fn name_or(&self, whole: &str) -> String {
        if self.subject.is_empty() {
            whole.to_owned()
        } else {
            shown(self.subject)
        }
    }

    fn source(&self) -> Option<Arc<SourceLine>> {
        let newest = self.last().source.as_ref();
        newest
            .or(self.seen.first.1.source.as_ref())
            .map(|line| Arc::new(line.clone()))
    }

    /// An opinion about this fact.
    fn about(&self, opinion: Opinion) -> Opinion {
        let first = self.seen.first.0;
        let last = self.seen.last.as_ref().map_or(first, |newest| newest.0);
        Opinion {
            object: (!self.subject.is_empty()).then(|| shown(self.subject)),
            source: self.source(),
            at: Some((self.rank, first, last)),
            ..opinion
        }
    }

    fn fine(&self, en: &str, zh: &str) -> Opinion {
        self.about(Opinion::fine(en.to_owned(), zh.to_owned()))
    }

    fn found(&self, state: State, en: String, zh: String) -> Opinion {
        self.about(Opinion::found(state, None, 1, en, zh))
    }

    fn fault(&self, en: String, zh: String) -> Opinion {
        self.found(State::Fault, en, zh)
    }

    fn note(&self, en: String, zh: String) -> Opinion {
        self.found(State::Note, en, zh)
    }
}

/// A text of a file in a sentence: one line, not too long.
fn shown(text: &str) -> String {
    let is_break = |c: char| c.is_control();
    let plain = text.chars().map(|c| if is_break(c) { ' ' } else { c });
    let mut shown: String = plain.clone().take(MAX_CHARACTERS).collect();
    if plain.count() > MAX_CHARACTERS {
        shown.push('…');
    }
    shown.trim().to_owned()
}

/// A number that counts, as text.
fn counted(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count; anything else saturates"
    )]
    let whole = value.round() as u64;
    digits::count(whole)
}

/// ` and 3 others`, with the number of all but the first.
fn and_others(all: f64, named: &str) -> (String, String) {
    let named = named
        .split(',')
        .filter(|name| !name.trim().is_empty())
        .count();
    let left = all - named as f64;
    if left < 1.0 {
        return (String::new(), String::new());
    }
    let left = counted(left);
    (format!(" and {left} more"), format!(" 等另外 {left} 个"))
}
