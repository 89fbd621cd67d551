//! Search in the slices of a trace: a query of terms, all of which must hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use trainscope_api::timeline::{MAX_NEAREST, TimeKind, TimelineSearchAnswer, TimelineSearchQuery};
use trainscope_format::trace::TextId;

use super::lanes::STRETCHES;
use super::ranges::Span;
use super::slice::entry;
use super::{Model, lane};

/// Maximum number of names in one answer.
const MAX_FOUND_NAMES: usize = 100;
/// Maximum number of numbers of names in one answer.
const MAX_NAME_IDS: usize = 10_000;
/// Maximum size of a compiled expression, bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Kinds of time by their names in queries.
const KINDS: [(&str, TimeKind); 6] = [
    ("compute", TimeKind::Compute),
    ("communication", TimeKind::Communication),
    ("copy", TimeKind::Copy),
    ("data", TimeKind::Data),
    ("host", TimeKind::Host),
    ("idle", TimeKind::Idle),
];
/// Units of durations, nanoseconds. Longer names come first if one ends with another.
const UNITS: [(&str, f64); 6] = [
    ("ns", 1.0),
    ("µs", 1e3),
    ("μs", 1e3),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
];

/// A query that cannot be read, as a text for its author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// No term.
    #[error(
        "a search needs a part of a name, or one of /expression/, kind:, lane:, dur:, step: and args:"
    )]
    Empty,
    /// A quotation mark without the second one.
    #[error("the quotation mark before `{0}` is not closed")]
    OpenQuote(String),
    /// An invalid expression.
    #[error("`/{0}/` is no regular expression: {1}")]
    Pattern(String, String),
    /// An unknown kind of time.
    #[error("`kind:{0}` is not one of compute, communication, copy, data, host and idle")]
    Kind(String),
    /// An invalid duration.
    #[error("`dur:{0}` is none: write dur:>1ms or dur:<20us, with ns, us, ms or s")]
    Duration(String),
    /// An invalid number of a step.
    #[error("`step:{0}` is no number of a step")]
    Step(String),
    /// Arguments, which are not in the columns of a trace, and were not read from its file.
    #[error("`args:{0}`: this profile has no arguments in its file")]
    Arguments(String),
    /// No text of arguments.
    #[error("`args:` needs a part of a name or a value of an argument after it")]
    NoArguments,
}

/// A condition of a query.
#[derive(Clone, Debug)]
enum Term {
    Text(String),
    Pattern(Regex),
    Kind(TimeKind),
    Lane(String),
    Duration { least: u64, most: u64 },
    Step(i64),
    Arguments(String),
}

/// Slices whose arguments have a text, by that text in lower case; in order of their indices.
pub type ArgumentMatches = BTreeMap<String, Arc<Vec<u32>>>;

/// Texts of the `args:` terms of a query, in lower case.
pub fn argument_texts(query: &str) -> Result<Vec<String>, SearchError> {
    let texts = terms(query)?.into_iter().filter_map(|term| match term {
        Term::Arguments(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}

/// The terms of a query.
fn terms(query: &str) -> Result<Vec<Term>, SearchError> {
    let mut terms = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        if let Some((pattern, after)) = expression(rest) {
            terms.push(Term::Pattern(compiled(pattern)?));
            rest = after.trim_start();
            continue;
        }
        let (word, after) = word(rest)?;
        let is_quoted = rest.starts_with('"');
        let key = word.split_once(':').filter(|_| !is_quoted);
        terms.push(match key {
            Some(("kind", value)) => Term::Kind(kind(value)?),
            Some(("lane", value)) => Term::Lane(value.to_lowercase()),
            Some(("dur", value)) => duration(value)?,
            Some(("step", value)) => {
                let number = value
                    .parse()
                    .map_err(|_| SearchError::Step(value.to_owned()));
                Term::Step(number?)
            }
            Some(("args", "")) => return Err(SearchError::NoArguments),
            Some(("args", value)) => Term::Arguments(value.to_lowercase()),
            _ => Term::Text(word.to_lowercase()),
        });
        rest = after.trim_start();
    }
    if terms.is_empty() {
        return Err(SearchError::Empty);
    }
    Ok(terms)
}

/// The expression at the start of a text and the text behind it; `None` if its second slash does not end a word.
fn expression(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('/')?;
    let ends = inside.match_indices('/').map(|(at, _)| at);
    let end = ends.filter(|at| {
        let after = &inside[at + 1..];
        *at > 0 && (after.is_empty() || after.starts_with(char::is_whitespace))
    });
    let end = end.min()?;
    Some((&inside[..end], &inside[end + 1..]))
}

/// The word at the start of a text, without quotation marks, and the text behind it.
fn word(text: &str) -> Result<(String, &str), SearchError> {
    let mut word = String::new();
    let mut open = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' if open.is_some() => open = None,
            '"' => open = Some(at + 1),
            _ if open.is_none() && letter.is_whitespace() => return Ok((word, &text[at..])),
            _ => word.push(letter),
        }
    }
    match open {
        Some(at) => Err(SearchError::OpenQuote(text[at..].to_owned())),
        None => Ok((word, "")),
    }
}

fn compiled(pattern: &str) -> Result<Regex, SearchError> {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(MAX_PATTERN_BYTES);
    builder.build().map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default();
        SearchError::Pattern(
            pattern.to_owned(),
            last.trim_start_matches("error: ").to_owned(),
        )
    })
}

fn kind(text: &str) -> Result<TimeKind, SearchError> {
    let lower = text.to_lowercase();
    let mut kinds = KINDS
        .iter()
        .filter(|(name, _)| !lower.is_empty() && name.starts_with(&lower));
    match (kinds.next(), kinds.next()) {
        (Some((_, kind)), None) => Ok(*kind),
        _ => Err(SearchError::Kind(text.to_owned())),
    }
}

fn duration(text: &str) -> Result<Term, SearchError> {
    let bad = || SearchError::Duration(text.to_owned());
    let number = text.trim_start_matches(['<', '>', '=']);
    let sign = &text[..text.len() - number.len()];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(name, nanos)| Some((number.strip_suffix(name)?, nanos)))
        .ok_or_else(bad)?;
    let value: f64 = digits.trim().parse().map_err(|_| bad())?;
    if !value.is_finite() || value < 0.0 {
        return Err(bad());
    }
    // Not `value * unit`: 0.3 ms are 300,000 ns.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "neither negative nor NaN; too long ones become the longest"
    )]
    let nanos = (value * unit).round() as u64;
    let (least, most) = match sign {
        ">" => (nanos.saturating_add(1), u64::MAX),
        ">=" => (nanos, u64::MAX),
        "<" => (u64::from(nanos == 0), nanos.saturating_sub(1)),
        "<=" => (0, nanos),
        _ => return Err(bad()),
    };
    Ok(Term::Duration { least, most })
}

/// A query, compiled for one model.
#[derive(Clone, Debug)]
struct Filter {
    /// By number of the name; the last one is for missing names.
    names: Vec<bool>,
    lanes: Vec<bool>,
    /// By number of the kind.
    kinds: [bool; KINDS.len()],
    least: u64,
    most: u64,
    /// Times in which slices begin.
    within: Option<Vec<Span>>,
    /// Slices by their arguments, all of which must have them.
    by_arguments: Vec<Arc<Vec<u32>>>,
}

impl Filter {
    fn new(
        model: &Model,
        terms: &[Term],
        arguments: &ArgumentMatches,
    ) -> Result<Self, SearchError> {
        let mut filter = Self {
            names: vec![true; model.trace.texts.len() + 1],
            lanes: vec![true; model.lanes.len()],
            kinds: [true; KINDS.len()],
            least: 0,
            most: u64::MAX,
            within: None,
            by_arguments: Vec::new(),
        };
        for term in terms {
            match term {
                Term::Text(part) => filter.keep_names(model, |name| contains(name, part)),
                Term::Pattern(pattern) => filter.keep_names(model, |name| pattern.is_match(name)),
                Term::Kind(only) => {
                    for (_, kind) in KINDS {
                        filter.kinds[kind as usize] &= kind == *only;
                    }
                }
                Term::Lane(part) => {
                    for (index, keep) in filter.lanes.iter_mut().enumerate() {
                        let texts = [
                            lane::name(model, index),
                            lane::group_name(model, index),
                            lane::text(model, index),
                        ];
                        *keep &= texts.iter().any(|text| contains(text, part));
                    }
                }
                Term::Duration { least, most } => {
                    filter.least = filter.least.max(*least);
                    filter.most = filter.most.min(*most);
                }
                Term::Step(number) => {
                    let steps = model.steps.list.iter();
                    let steps = steps.filter(|step| step.number == *number);
                    let spans: Vec<Span> = steps.map(|step| (step.begin, step.end)).collect();
                    filter.within = Some(match filter.within.take() {
                        Some(within) => super::ranges::meet(&within, &spans),
                        None => spans,
                    });
                }
                Term::Arguments(text) => {
                    let matching = arguments.get(text);
                    let matching = matching.ok_or_else(|| SearchError::Arguments(text.clone()))?;
                    filter.by_arguments.push(Arc::clone(matching));
                }
            }
        }
        Ok(filter)
    }

    fn keep_names(&mut self, model: &Model, matches: impl Fn(&str) -> bool) {
        let names = model.trace.texts.iter().chain(std::iter::once(""));
        for (keep, name) in self.names.iter_mut().zip(names) {
            *keep = *keep && matches(name);
        }
    }

    fn is_match(&self, model: &Model, slice: usize) -> bool {
        let slices = &model.trace.slices;
        let name = (slices.names[slice].0 as usize).min(self.names.len() - 1);
        self.names[name]
            && (self.least..=self.most).contains(&slices.durations[slice])
            && self.kinds[model.kinds[slice] as usize]
            && self.within.as_ref().is_none_or(|within| {
                let begin = slices.begins[slice];
                within.iter().any(|span| span.0 <= begin && begin < span.1)
            })
            && self.by_arguments.iter().all(|matching| {
                u32::try_from(slice).is_ok_and(|slice| matching.binary_search(&slice).is_ok())
            })
    }
}

fn contains(text: &str, lower: &str) -> bool {
    let is_plain = text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_plain {
        text.contains(lower)
    } else {
        text.to_lowercase().contains(lower)
    }
}

/// A match by its place in time.
type Match = (i64, u32);

/// Matches around a moment, while lanes are looked at one after another.
#[derive(Default)]
struct Nearest {
    before: Vec<Match>,
    after: Vec<Match>,
    before_count: u64,
}

/// Matches are sorted at this multiple of the wanted number.
const SLACK: usize = 16;

impl Nearest {
    /// Adds the last matches of a lane before the moment, and the first ones since it.
    fn add(&mut self, before: &[Match], after: &[Match]) {
        let last = before.len().saturating_sub(MAX_NEAREST);
        self.before.extend_from_slice(&before[last..]);
        self.after
            .extend_from_slice(&after[..after.len().min(MAX_NEAREST)]);
        if self.before.len() > SLACK * MAX_NEAREST {
            self.shorten_before();
        }
        if self.after.len() > SLACK * MAX_NEAREST {
            self.shorten_after();
        }
    }

    fn shorten_before(&mut self) {
        self.before.sort_unstable();
        let surplus = self.before.len().saturating_sub(MAX_NEAREST);
        self.before.drain(..surplus);
    }

    fn shorten_after(&mut self) {
        self.after.sort_unstable();
        self.after.truncate(MAX_NEAREST);
    }

    /// Up to [`MAX_NEAREST`] matches, half of them before the moment if both sides have enough, and the position of the
    /// first match among all.
    fn matches(mut self) -> (Vec<Match>, u64) {
        self.shorten_before();
        self.shorten_after();
        let after = self.after.len().min(MAX_NEAREST / 2);
        let before = self.before.len().min(MAX_NEAREST - after);
        let after = self.after.len().min(MAX_NEAREST - before);
        let mut matches = self.before.split_off(self.before.len() - before);
        matches.extend_from_slice(&self.after[..after]);
        (matches, self.before_count - before as u64)
    }
}

/// Matches of a query without `args:`. Names of the run, session and rank are not looked at.
pub fn search(
    model: &Model,
    query: &TimelineSearchQuery,
) -> Result<TimelineSearchAnswer, SearchError> {
    search_with(model, query, &ArgumentMatches::new())
}

/// Matches of a query, with those of its [`argument_texts`].
pub fn search_with(
    model: &Model,
    query: &TimelineSearchQuery,
    arguments: &ArgumentMatches,
) -> Result<TimelineSearchAnswer, SearchError> {
    let filter = Filter::new(model, &terms(&query.query)?, arguments)?;
    let origin = model.origin();
    let extent = model.extent.end.saturating_sub(origin).max(1);
    let from = origin.saturating_add(query.from.unwrap_or(0));
    let to = query
        .to
        .map_or(model.extent.end, |to| origin.saturating_add(to));
    let per_nano = STRETCHES as f64 / extent as f64;
    let mut answer = TimelineSearchAnswer {
        by_pixel: vec![0; STRETCHES],
        ..TimelineSearchAnswer::default()
    };
    let mut by_name = vec![0_u64; filter.names.len()];
    let mut nearest = Nearest::default();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (lane, _) in model
        .lanes
        .iter()
        .zip(&filter.lanes)
        .filter(|(_, keep)| **keep)
    {
        before.clear();
        after.clear();
        for slice in lane.slices.clone() {
            if !filter.is_match(model, slice as usize) {
                continue;
            }
            let (begin, end) = model.span(slice);
            let name = model.trace.slices.names[slice as usize].0 as usize;
            by_name[name.min(filter.names.len() - 1)] += 1;
            answer.count += 1;
            answer.in_view += u64::from(begin < to && (end > from || begin >= from));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "negative numbers become 0, and large ones the last stretch"
            )]
            let stretch = (begin.saturating_sub(origin) as f64 * per_nano) as usize;
            answer.by_pixel[stretch.min(STRETCHES - 1)] += 1;
            if begin < from {
                nearest.before_count += 1;
                if before.len() == 2 * MAX_NEAREST {
                    before.drain(..MAX_NEAREST);
                }
                before.push((begin, slice));
            } else if after.len() < MAX_NEAREST {
                after.push((begin, slice));
            }
        }
        nearest.add(&before, &after);
    }
    let mut names: Vec<(u32, u64)> = (0..).zip(by_name).filter(|(_, count)| *count > 0).collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let text = |name: u32| model.trace.texts.get(TextId(name)).to_owned();
    let found = names.iter().take(MAX_FOUND_NAMES);
    answer.names = found.map(|(name, count)| (text(*name), *count)).collect();
    answer.name_ids = names
        .iter()
        .take(MAX_NAME_IDS)
        .map(|(name, _)| *name)
        .collect();
    let (matches, first) = nearest.matches();
    answer.nearest = matches
        .iter()
        .map(|(_, slice)| entry(model, *slice))
        .collect();
    answer.nearest_from = first;
    Ok(answer)
}
