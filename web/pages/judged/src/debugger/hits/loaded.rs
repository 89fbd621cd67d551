//! The part of the list of hits that is loaded, line by line.

use trainscope_api::Sentence;
use trainscope_api::findings::{Findings, Hit, HitSeries};

use super::super::model::is_of_profile;
use super::super::numbers::Names;
use super::count;

/// Content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Head of a group: first step, rank, last step (greater for hits of profiles), and `true` inside a series.
    Step(i64, u32, i64, bool),
    /// Series of equal hits, by its index among the loaded ones.
    Series(usize),
    /// Hit, by its index among the loaded ones.
    Hit(usize),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LoadedHits {
    pub(super) hits: Vec<Hit>,
    loaded: Vec<Line>,
    pub(super) series: Vec<HitSeries>,
    pub(super) titles: Vec<Sentence>,
    pub(super) names: Names,
    /// Probable first cause.
    pub(super) first_cause: Option<String>,
    pub(super) has_ranks: bool,
    /// Number of lines in the whole list.
    pub(super) lines: usize,
    /// Number of lines above the loaded ones.
    above: usize,
}

impl LoadedHits {
    pub(super) fn of(findings: &Findings) -> Self {
        let hits = findings.hits.clone();
        let mut loaded = Vec::with_capacity(hits.len() * 2);
        let place = |hit: &Hit| (hit.step, hit.rank);
        let mut last = hits.first().map(place).filter(|_| !findings.starts_group);
        for (at, hit) in hits.iter().enumerate() {
            let now = place(hit);
            if last.replace(now) != Some(now) {
                let of_place = hits.get(at..).unwrap_or_default().iter();
                let of_place = of_place.take_while(|hit| place(hit) == now);
                let last = if of_place.clone().all(|hit| is_of_profile(findings, hit)) {
                    of_place.map(|hit| hit.last_step).max()
                } else {
                    None
                };
                let mut series = findings.series.iter();
                let begun = series.position(|series| (series.step, series.rank) == now);
                loaded.extend(begun.map(Line::Series));
                let mut series = findings.series.iter();
                let within = series.find(|series| series.contains(now.1, now.0));
                if within.is_none_or(|series| series.is_open) {
                    let is_inner = within.is_some();
                    loaded.push(Line::Step(now.0, now.1, last.unwrap_or(now.0), is_inner));
                }
            }
            loaded.push(Line::Hit(at));
        }
        let is_of = |line: &Line| matches!(line, Line::Hit(_));
        let heads = loaded.iter().take_while(|line| !is_of(line)).count();
        let first = findings.first_cause.as_ref();
        let all = findings.watchpoints.iter();
        Self {
            titles: all.map(|watchpoint| watchpoint.title.clone()).collect(),
            names: Names::of(hits.iter().map(|hit| &*hit.tensor)),
            first_cause: first.map(|cause| cause.hit.key()),
            has_ranks: findings.judged.ranks > 1,
            lines: if hits.is_empty() {
                0
            } else {
                count(findings.lines)
            },
            above: count(findings.first_line).saturating_sub(heads),
            loaded,
            series: findings.series.clone(),
            hits,
        }
    }

    /// `true` if a hit has the tensor, step and rank of the hit before it: both are one group.
    pub(super) fn is_again(&self, at: usize) -> bool {
        let of = |at: usize| {
            self.hits
                .get(at)
                .map(|hit| (&hit.tensor, hit.step, hit.rank))
        };
        at.checked_sub(1).is_some_and(|before| of(before) == of(at))
    }

    /// `true` if `place` (rank and step) is in a collapsed series, after its first step.
    pub(super) fn holds(&self, series: usize, place: Option<(u32, i64)>) -> bool {
        let of = self.series.get(series).zip(place);
        of.is_some_and(|(series, (rank, step))| {
            !series.is_open && series.contains(rank, step) && step != series.step
        })
    }

    /// Loaded lines in `from..to` of the whole list, with the number of lines before and after them.
    pub(super) fn part(&self, from: usize, to: usize) -> (usize, &[Line], usize) {
        let place = |line: usize| line.saturating_sub(self.above).min(self.loaded.len());
        let (from, to) = (place(from), place(to));
        let part = self.loaded.get(from..to).unwrap_or_default();
        let before = (self.above + from).min(self.lines);
        (before, part, self.lines.saturating_sub(before + part.len()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use trainscope_api::findings::WatchpointResult;
    use trainscope_format::Severity;

    pub(in super::super) fn hit(step: i64) -> Hit {
        Hit {
            condition: "c".to_owned(),
            watchpoint: 0,
            nth: 0,
            severity: Severity::Error,
            rank: 0,
            step,
            last_step: step,
            tensor: "t".to_owned(),
            node: None,
            values: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            measures: Vec::new(),
            sentence: Sentence::default(),
            explains: None,
            source: None,
        }
    }

    /// Two findings of step 7 and one of step 9, with ten lines above and five below. Without `starts_group`, the line
    /// of step 7 is among those above.
    fn window(starts_group: bool) -> LoadedHits {
        LoadedHits::of(&Findings {
            hits: vec![hit(7), hit(7), hit(9)],
            starts_group,
            first_line: 10 + u64::from(starts_group),
            lines: 10 + u64::from(starts_group) + 4 + 5,
            ..Findings::default()
        })
    }

    #[test]
    fn each_step_has_a_line_and_all_lines_have_room() {
        let hits = window(true);
        let lines = [
            Line::Step(7, 0, 7, false),
            Line::Hit(0),
            Line::Hit(1),
            Line::Step(9, 0, 9, false),
            Line::Hit(2),
        ];
        assert_eq!(hits.part(0, 100), (10, &lines[..], 5));
        assert_eq!(hits.part(11, 13), (11, &lines[1..3], 7));
        // Scrolled to lines that are not loaded yet.
        assert_eq!(hits.part(0, 5), (10, &lines[..0], 10));
        assert_eq!(hits.part(17, 30), (15, &lines[..0], 5));
        // The line of the first step is above.
        assert_eq!(window(false).part(0, 100), (10, &lines[1..], 5));
        assert_eq!(LoadedHits::default().part(0, 100), (0, &lines[..0], 0));
    }

    #[test]
    fn hits_of_one_tensor_at_a_step_are_one_group() {
        let mut other = hit(9);
        other.tensor = "u".to_owned();
        let hits = LoadedHits::of(&Findings {
            hits: vec![hit(7), hit(7), hit(9), other],
            ..Findings::default()
        });
        let again: Vec<bool> = (0..4).map(|at| hits.is_again(at)).collect();
        assert_eq!(again, [false, true, false, false]);
    }

    #[test]
    fn rules_about_profiles_are_about_all_of_its_steps() {
        let mut whole = hit(0);
        whole.last_step = 39;
        let line = |target: &str| {
            let watched = WatchpointResult {
                condition: "c".to_owned(),
                title: Sentence::default(),
                target: target.to_owned(),
                finds_not_finite: false,
                limits: BTreeMap::new(),
                is_on: true,
                has_data: true,
                severity: Severity::Warning,
                worst: None,
                hits: 1,
                unjudged: 0,
                advice: Sentence::default(),
            };
            let hits = LoadedHits::of(&Findings {
                hits: vec![whole.clone()],
                watchpoints: vec![watched],
                starts_group: true,
                ..Findings::default()
            });
            hits.loaded[0]
        };
        assert_eq!(line("profile"), Line::Step(0, 0, 39, false));
        // Other hits begin at their step, regardless of their last one.
        assert_eq!(line("weight"), Line::Step(0, 0, 0, false));
    }

    #[test]
    fn a_series_has_a_line_of_its_own_and_its_steps_when_it_is_open() {
        let series = |is_open| HitSeries {
            rank: 0,
            step: 7,
            last_step: 9,
            steps: 2,
            is_open,
        };
        let of = |hits: Vec<Hit>, is_open| {
            LoadedHits::of(&Findings {
                hits,
                series: vec![series(is_open)],
                starts_group: true,
                first_line: 10 + 1 + u64::from(is_open),
                lines: 30,
                ..Findings::default()
            })
        };
        let closed = of(vec![hit(7), hit(12)], false);
        let lines = [
            Line::Series(0),
            Line::Hit(0),
            Line::Step(12, 0, 12, false),
            Line::Hit(1),
        ];
        assert_eq!(closed.part(0, 100), (10, &lines[..], 16));
        assert!(closed.holds(0, Some((0, 9))) && !closed.holds(0, Some((0, 7))));
        assert!(!closed.holds(0, Some((1, 9))) && !closed.holds(0, None));
        let open = of(vec![hit(7), hit(9), hit(12)], true);
        let lines = [
            Line::Series(0),
            Line::Step(7, 0, 7, true),
            Line::Hit(0),
            Line::Step(9, 0, 9, true),
            Line::Hit(1),
            Line::Step(12, 0, 12, false),
            Line::Hit(2),
        ];
        assert_eq!(open.part(0, 100), (10, &lines[..], 13));
        assert!(!open.holds(0, Some((0, 9))), "its steps are listed");
    }
}
