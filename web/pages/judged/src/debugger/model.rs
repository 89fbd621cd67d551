//! State of the page: the answer for the address, and the selected finding.

use std::sync::Arc;

use trainscope_api::findings::{Findings, FindingsQuery, Hit, HitSeries, JudgementState};
use trainscope_format::Severity;

use trainscope_web_kit::client;
use trainscope_web_kit::components::severity_name;
use trainscope_web_kit::format;
use trainscope_web_kit::frames::after_paint;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::{HIT, HIT_STEPS, RANK, SEARCH, STEP, TENSOR, WATCHPOINT};
use trainscope_web_kit::pixels::whole;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Load, Query};
use trainscope_web_kit::route::use_run;
use trainscope_web_kit::url_state::{History, Key, Setting, UrlState, use_url_state};

/// Target of rules about profiles.
const PROFILE: &str = "profile";
const SEVERITY: Key<Severity> = Key::with(
    "severity",
    |text| parse_severity(Some(text)),
    |severity| severity_name(*severity).to_owned(),
);
/// Expanded series of equal hits, as the server reads them.
const OPEN: Setting<String> = Key::new("open").or(String::new());

/// Height of a line of the list, in pixels. Equals `--hit` in the style sheet.
pub(super) const LINE: f64 = 27.0;
/// Number of hits requested in addition to those that fit into the window. It is small because each keystroke in the
/// filter requests them.
const SPARE: usize = 32;
/// Number of lines requested above the first one in view.
const ABOVE: u64 = 12;
/// The requested lines begin at a multiple of this: not every turn of the wheel sends a request.
const STRIDE: u64 = 10;

/// Findings, and the request that they answer.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    findings: Arc<Findings>,
    /// Finding that the request named.
    hit: Option<String>,
    locate: u32,
}

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    url: UrlState,
    pub(super) run: Memo<String>,
    pub(super) severity: Memo<Option<Severity>>,
    pub(super) search: Memo<String>,
    /// Name of the chosen watchpoint.
    pub(super) watchpoint: Memo<Option<String>>,
    pub(super) rank: Memo<Option<u32>>,
    pub(super) steps: Memo<String>,
    open: Memo<String>,
    pub(super) findings: Memo<Arc<Findings>>,
    /// Ready with `false` before the run has been judged.
    pub(super) load: Memo<Load<bool>>,
    /// Hit in the address, else the first cause or the first hit.
    pub(super) selected: Memo<Option<Hit>>,
    /// `true` if the address names a finding that does not exist.
    pub(super) is_lost: Memo<bool>,
    pub(super) named: Memo<Option<String>>,
    /// Shown tensor, rank and step: those of the hit unless the address names others.
    pub(super) place: Memo<Option<(String, u32, i64)>>,
    /// First requested line.
    line: RwSignal<u64>,
    /// Line to scroll to.
    pub(super) reveal: RwSignal<Option<u64>>,
    /// Incremented to request the position of the selected finding again.
    locate: RwSignal<u32>,
}

/// Returns the state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

pub(super) fn parse_severity(text: Option<&str>) -> Option<Severity> {
    let mut all = Severity::ALL.into_iter();
    all.find(|severity| Some(severity_name(*severity)) == text)
}

/// First and last step of a filter.
type StepRange = (Option<i64>, Option<i64>);

/// Parses `10-200`, `10-`, `-200` or `10`. Empty text means all steps; `None` for any other text.
pub(super) fn parse_steps(text: &str) -> Option<StepRange> {
    let text = text.trim();
    if text.is_empty() {
        return Some((None, None));
    }
    let (from, to) = text.split_once(['-', '–']).unwrap_or((text, text));
    let end = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse::<i64>().ok().map(Some),
    };
    let range = (end(from)?, end(to)?);
    let is_range = match range {
        (Some(from), Some(to)) => from <= to,
        (from, to) => from.is_some() || to.is_some(),
    };
    is_range.then_some(range)
}

impl Model {
    pub(super) fn provide() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = Memo::new(move |_| run.get().unwrap_or_default());
        let (hit, tensor, step) = (url.param(HIT), url.param(TENSOR), url.param(STEP));
        let answer = Query::<Answer>::idle();
        let findings = Memo::new(move |_| {
            let findings = answer
                .answer
                .get()
                .map(|answer| Arc::clone(&answer.findings));
            findings.unwrap_or_default()
        });
        let load = Memo::new(move |_| {
            let is_judged = |answer: Arc<Answer>| answer.findings.state != JudgementState::Waiting;
            answer.load().map(is_judged)
        });
        let selected = Memo::new(move |before: Option<&Option<Hit>>| {
            let wanted = hit.get();
            findings.with(|findings| {
                let all = findings.first_cause.iter().map(|cause| &cause.hit);
                let mut all = all.chain(&findings.hits);
                let Some(wanted) = wanted else {
                    return all.next().cloned();
                };
                let told = findings.wanted.iter().map(|wanted| &wanted.hit);
                let found = all.chain(told).find(|hit| hit.key() == wanted).cloned();
                // The finding may have left the loaded window; if it was requested by name, it no longer exists.
                let is_gone = answer.answer.with(|answer| {
                    answer
                        .as_ref()
                        .is_some_and(|answer| answer.hit.as_ref() == Some(&wanted))
                });
                let before = before.cloned().flatten().filter(|_| !is_gone);
                found.or_else(|| before.filter(|hit| hit.key() == wanted))
            })
        });
        let is_lost = Memo::new(move |_| {
            let is_named = hit.with(Option::is_some);
            is_named && selected.with(Option::is_none) && load.get() == Load::Ready(true)
        });
        let place = Memo::new(move |_| {
            let hit = selected.get()?;
            let tensor = tensor.get().unwrap_or(hit.tensor);
            Some((tensor, hit.rank, step.get().unwrap_or(hit.step)))
        });
        let model = Self {
            url,
            run,
            severity: url.param(SEVERITY),
            search: url.setting(SEARCH),
            watchpoint: url.param(WATCHPOINT),
            rank: url.param(RANK),
            steps: url.setting(HIT_STEPS),
            open: url.setting(OPEN),
            findings,
            load,
            selected,
            is_lost,
            named: hit,
            place,
            line: RwSignal::new(0),
            reveal: RwSignal::new(None),
            locate: RwSignal::new(1),
        };
        provide_context(model);
        model.ask(answer);
        model
    }

    /// Filter of the address; reactive.
    fn filter(self) -> FindingsQuery {
        let (from_step, to_step) = parse_steps(&self.steps.get()).unwrap_or_default();
        FindingsQuery {
            run: self.run.get(),
            severity: self.severity.get(),
            watchpoint: self.watchpoint.get(),
            rank: self.rank.get(),
            from_step,
            to_step,
            search: Some(self.search.get()).filter(|text| !text.is_empty()),
            limit: Some(in_window()),
            ..FindingsQuery::default()
        }
    }

    /// Requests the findings when the address changes or the server has news.
    fn ask(self, answer: Query<Answer>) {
        let located = StoredValue::new(0_u32);
        Effect::new(move |before: Option<FindingsQuery>| {
            let now = self.filter();
            if before.as_ref().is_some_and(|before| *before != now) {
                // Another list begins at its top.
                self.line.set(0);
                self.reveal.set(Some(0));
            }
            if before.is_none_or(|before| before.run != now.run) {
                located.set_value(0);
            }
            now
        });
        let key = move || {
            let query = FindingsQuery {
                line: Some(self.line.get()),
                open: Some(self.open.get()),
                ..self.filter()
            };
            Some((query, self.locate.get()))
        };
        answer.start(key, move |(mut query, locate)| {
            // Another hit alone does not send a request; the next request names it.
            query.hit = self.named.get_untracked();
            async move {
                let findings = Arc::new(client::findings(&query).await?);
                Ok(Answer {
                    findings,
                    hit: query.hit,
                    locate,
                })
            }
        });
        answer.again_with_list();
        answer.cleared_with(move || self.run.get());
        Effect::new(move || {
            let Some(answer) = answer.answer.get() else {
                return;
            };
            if located.get_value() == answer.locate {
                return;
            }
            located.set_value(answer.locate);
            let findings = &answer.findings;
            let wanted = findings.wanted.as_ref().and_then(|wanted| wanted.line);
            let first = findings.first_cause.as_ref().and_then(|cause| cause.line);
            if let Some(place) = wanted {
                self.reveal.set(Some(place));
                self.show_from(place);
            } else if let (None, Some(place)) = (&answer.hit, first) {
                // Not requested by the user: the first findings are painted before more are requested.
                after_paint(move || {
                    if self.named.try_get_untracked() == Some(None) {
                        self.reveal.set(Some(place));
                        self.show_from(place);
                    }
                });
            }
        });
    }

    /// Requests the lines around `line`, the first one in view.
    pub(super) fn show_from(self, line: u64) {
        let first = line.saturating_sub(ABOVE) / STRIDE * STRIDE;
        if self.line.get_untracked() != first {
            self.line.set(first);
        }
    }

    /// Steps of a hit as text: all steps for a rule about a profile, otherwise the first one; reactive.
    pub(super) fn steps_of(self, hit: &Hit) -> String {
        let is_whole = self.findings.with(|findings| is_of_profile(findings, hit));
        if is_whole {
            super::numbers::steps(hit)
        } else {
            format::integer(hit.step)
        }
    }

    /// Rank of a finding in a run of several ranks; reactive.
    pub(super) fn rank_of(self, hit: &Hit) -> Option<String> {
        let has_ranks = self.findings.with(|findings| findings.judged.ranks > 1);
        has_ranks.then(|| (use_i18n().texts().debugger().rank)(hit.rank))
    }

    /// Shows the hits of one severity; a second press shows all again.
    pub(super) fn press_severity(self, severity: Option<Severity>) {
        let now = self.severity.get_untracked();
        let next = severity.filter(|_| severity != now);
        self.url.set(&[SEVERITY.to_option(next)], History::Push);
    }

    pub(super) fn press_watchpoint(self, name: &str) {
        let is_it = self
            .watchpoint
            .with_untracked(|now| now.as_deref() == Some(name));
        let next = (!is_it).then_some(name);
        self.url.set(&[WATCHPOINT.to_option(next)], History::Push);
    }

    /// Clears the filter by watchpoint if it names one of `condition`, because that watchpoint is removed.
    pub(super) fn leave_watchpoint(self, condition: &str) {
        let is_of = |now: &Option<String>| {
            let name = now.as_ref().and_then(|now| now.split('~').next());
            name == Some(condition)
        };
        if self.watchpoint.with_untracked(is_of) {
            self.url.set(&[WATCHPOINT.clear()], History::Replace);
        }
    }

    pub(super) fn set_search(self, text: &str) {
        self.url.set(&[SEARCH.to(text.trim())], History::Replace);
    }

    pub(super) fn set_steps(self, text: &str) {
        self.url.set(&[HIT_STEPS.to(text.trim())], History::Replace);
    }

    pub(super) fn set_rank(self, text: &str) {
        let rank = RANK.to_option(RANK.read(text));
        self.url.set(&[rank], History::Replace);
    }

    pub(super) fn select(self, hit: &Hit) {
        let changes = [HIT.to(hit.key()), TENSOR.clear(), STEP.clear()];
        self.url.set(&changes, History::Replace);
        let is_loaded = |findings: &Arc<Findings>| findings.hits.contains(hit);
        if !self.findings.with_untracked(is_loaded) {
            self.locate.update(|locate| *locate += 1);
        }
    }

    /// Shows another tensor than that of the hit; `None` returns to it.
    pub(super) fn look_at(self, tensor: Option<&str>) {
        // Keeps the hit even if the first cause changes.
        let hit = self.selected.get_untracked().map(|hit| hit.key());
        let changes = [HIT.to_option(hit), TENSOR.to_option(tensor), STEP.clear()];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn set_step(self, step: i64) {
        let hit = self.selected.get_untracked().map(|hit| hit.key());
        let changes = [HIT.to_option(hit), STEP.to(step)];
        self.url.set(&changes, History::Replace);
    }

    /// Expands or collapses a series of equal hits.
    pub(super) fn toggle_series(self, key: &str) {
        let now = self.open.get_untracked();
        let others = now
            .split(',')
            .filter(|other| !other.is_empty() && *other != key);
        let mut open: Vec<&str> = others.collect();
        if !now.split(',').any(|other| other == key) {
            open.push(key);
        }
        let open = OPEN.to(open.join(","));
        self.url.set(&[open], History::Replace);
    }

    pub(super) fn clear_filters(self) {
        let changes = [
            SEVERITY.clear(),
            SEARCH.clear(),
            WATCHPOINT.clear(),
            RANK.clear(),
            HIT_STEPS.clear(),
        ];
        self.url.set(&changes, History::Push);
    }

    /// Selects a hit and scrolls to its line.
    pub(super) fn show(self, hit: &Hit) {
        self.select(hit);
        let line = self.findings.with_untracked(|findings| {
            let at = findings.hits.iter().position(|other| other == hit)?;
            Some(line_of(findings, at))
        });
        if line.is_some() {
            self.reveal.set(line);
        }
    }

    /// Selects the hit `by` places after the selected one. Returns `false` at the ends of the list.
    pub(super) fn move_by(self, by: isize) -> bool {
        let now = self.selected.get_untracked();
        let next = self.findings.with_untracked(|findings| {
            let hits = &findings.hits;
            let position = now.and_then(|now| listed_at(findings, &now));
            let next = match position {
                Some(position) => position.checked_add_signed(by)?,
                None => 0,
            };
            hits.get(next).cloned()
        });
        if let Some(next) = &next {
            self.show(next);
        }
        next.is_some()
    }
}

/// `true` for a hit of a rule about a profile.
pub(super) fn is_of_profile(findings: &Findings, hit: &Hit) -> bool {
    let watched = findings.watchpoints.get(hit.watchpoint as usize);
    watched.is_some_and(|watchpoint| watchpoint.target == PROFILE)
}

/// Index of a hit among the loaded ones. For a hit in a collapsed series, the index of the first hit of that series.
fn listed_at(findings: &Findings, hit: &Hit) -> Option<usize> {
    let mut hits = findings.hits.iter();
    let listed = hits.position(|other| other.key() == hit.key());
    listed.or_else(|| {
        let mut series = findings.series.iter();
        let series =
            series.find(|series| !series.is_open && series.contains(hit.rank, hit.step))?;
        let first = (series.rank, series.step);
        let mut hits = findings.hits.iter();
        hits.position(|other| (other.rank, other.step) == first)
    })
}

/// Number of hits to request.
fn in_window() -> usize {
    let height = window().inner_height().ok();
    let height = height.and_then(|height| height.as_f64()).unwrap_or(800.0);
    SPARE + whole(height / LINE)
}

/// Line of a loaded hit in the whole list.
fn line_of(findings: &Findings, at: usize) -> u64 {
    let place = |hit: &Hit| (hit.step, hit.rank);
    let until = findings.hits.get(..=at).unwrap_or_default();
    let groups = until
        .windows(2)
        .filter(|two| place(&two[0]) != place(&two[1]))
        .count();
    // An expanded series has a line above its first step. For the first hit, that line is before the loaded lines.
    let heads = findings.series.iter().filter(|series| series.is_open);
    let begins = |series: &&HitSeries| {
        let mut behind = until.iter().skip(1);
        behind.any(|hit| place(hit) == (series.step, series.rank))
            && until.first().map(place) != Some((series.step, series.rank))
    };
    findings.first_line + (at + groups + heads.filter(begins).count()) as u64
}

#[cfg(test)]
mod tests {
    use super::parse_steps;

    #[test]
    fn ranges_of_steps() {
        assert_eq!(parse_steps("10-200"), Some((Some(10), Some(200))));
        assert_eq!(parse_steps(" 10 – "), Some((Some(10), None)));
        assert_eq!(parse_steps("-7"), Some((None, Some(7))));
        assert_eq!(parse_steps("7"), Some((Some(7), Some(7))));
        assert_eq!(parse_steps(" "), Some((None, None)));
        for wrong in ["abc", "10-x", "-", "200-10", "1.5"] {
            assert_eq!(parse_steps(wrong), None, "{wrong}");
        }
    }
}
