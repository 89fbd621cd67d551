//! Filtered hits as a list whose lines can be counted without sending them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use trainscope_analysis::watchpoint::Hit;
use trainscope_api::findings::{FindingsQuery, HitSeries, WantedHit};

use crate::judging::Listing;

/// Hits of a run that match a query.
pub(crate) struct Page {
    /// Indices of the hits by step, by rank, then in the order of data flow.
    matching: Vec<usize>,
    /// Listed hits: of a series that is not written out, the first step only.
    pub(super) hits: Vec<usize>,
    /// Places in `hits` at which a step of a rank begins.
    pub(super) groups: Vec<usize>,
    /// Series with the range of their listed hits in `hits`.
    series: Vec<(Range<usize>, HitSeries)>,
    /// Places at which a written-out series begins, which has a separate line.
    open: Vec<usize>,
}

impl Page {
    /// Filters the hits by the query, and by this watchpoint if given. The first cause, by its index, is only at the
    /// beginning of a series.
    pub(crate) fn new(
        all: &[Hit],
        listing: &Listing,
        query: &FindingsQuery,
        (watchpoint, first_cause): (Option<u32>, Option<usize>),
    ) -> Self {
        let finder = query.search.as_ref().map(|text| listing.finder(text));
        let is_found = |at: usize| finder.as_ref().is_none_or(|is_found| is_found(at));
        let order = listing.order.iter().copied();
        let matching: Vec<usize> = order
            .filter(|&at| watchpoint.is_none_or(|wanted| wanted == all[at].watchpoint))
            .filter(|&at| passes(&all[at], query) && is_found(at))
            .collect();
        let place = |at: usize| (all[at].step, all[at].rank);
        let by_step: Vec<&[usize]> = matching.chunk_by(|a, b| place(*a) == place(*b)).collect();
        let open = query.open.as_deref();
        let runs = match open {
            Some(_) => runs(all, &by_step, first_cause),
            None => by_step.iter().map(|step| vec![*step]).collect(),
        };
        let open: BTreeSet<&str> = open.iter().flat_map(|open| open.split(',')).collect();
        let mut page = Self {
            matching: Vec::new(),
            hits: Vec::with_capacity(matching.len()),
            groups: Vec::with_capacity(runs.len()),
            series: Vec::new(),
            open: Vec::new(),
        };
        for run in runs {
            let ends = (run.first(), run.last());
            let (Some(&[first, ..]), Some(&[last, ..])) = ends else {
                continue;
            };
            let mut series = HitSeries {
                rank: all[*first].rank,
                step: all[*first].step,
                last_step: all[*last].step,
                steps: run.len() as u64,
                is_open: false,
            };
            series.is_open = open.contains(&*series.key());
            let listed = if series.is_open { run.len() } else { 1 };
            let begin = page.hits.len();
            for step in &run[..listed] {
                page.groups.push(page.hits.len());
                page.hits.extend_from_slice(step);
            }
            if run.len() > 1 {
                page.open.extend(series.is_open.then_some(begin));
                page.series.push((begin..page.hits.len(), series));
            }
        }
        page.matching = matching;
        page
    }

    /// Number of matching hits.
    pub(crate) fn total(&self) -> u64 {
        self.matching.len() as u64
    }

    /// Series within `limit` listed hits, starting at place `from`.
    pub(crate) fn series(&self, from: usize, limit: usize) -> Vec<HitSeries> {
        let first = self.series.partition_point(|(range, _)| range.end <= from);
        let sent = self.series[first..].iter();
        let sent = sent.take_while(|(range, _)| range.start < from.saturating_add(limit));
        sent.map(|(_, series)| series.clone()).collect()
    }

    /// Number of lines of the whole list, with one above each group and each open series.
    pub(crate) fn lines(&self) -> u64 {
        (self.hits.len() + self.groups.len() + self.open.len()) as u64
    }

    /// The line of a hit, by its position.
    pub(crate) fn line_of(&self, number: usize) -> u64 {
        let above = |lines: &[usize]| lines.partition_point(|&first| first <= number);
        (number + above(&self.groups) + above(&self.open)) as u64
    }

    /// The first hit at that line or below it, and its line.
    pub(crate) fn at_line(&self, line: u64) -> (usize, u64) {
        let (mut low, mut high) = (0, self.hits.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.line_of(middle) < line {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low, self.line_of(low))
    }

    /// The hit with that key, and its line if it is on the list; `number_of` maps names to watchpoints.
    pub(crate) fn wanted(
        &self,
        all: &[Hit],
        key: &str,
        number_of: impl Fn(&str) -> Option<u32>,
        told: impl Fn(&Hit) -> trainscope_api::findings::Hit,
    ) -> Option<WantedHit> {
        let (rank, rest) = key.split_once(':')?;
        let (step, rest) = rest.split_once(':')?;
        let (watchpoint, tensor) = rest.split_once(':')?;
        let watchpoint = number_of(watchpoint)?;
        let (rank, step): (u32, i64) = (rank.parse().ok()?, step.parse().ok()?);
        let is_it = |hit: &Hit| {
            (hit.rank, hit.step, hit.watchpoint) == (rank, step, watchpoint)
                && &*hit.tensor == tensor
        };
        // All hits are sorted by step.
        let from = all.partition_point(|hit| hit.step < step);
        let mut of_step = (from..all.len()).take_while(|&at| all[at].step == step);
        let at = of_step.find(|&at| is_it(&all[at]))?;
        Some(WantedHit {
            hit: told(&all[at]),
            line: self.line_of_hit(all, at),
        })
    }

    /// The line of a hit by its index, if it matches: in a series that is not written out, that of the first step.
    pub(crate) fn line_of_hit(&self, all: &[Hit], at: usize) -> Option<u64> {
        let place = |at: usize| Some((all.get(at)?.step, all.get(at)?.rank, at));
        let number = self
            .matching
            .partition_point(|&other| place(other) < place(at));
        if self.matching.get(number) != Some(&at) {
            return None;
        }
        if self.series.is_empty() {
            return Some(self.line_of(number));
        }
        let listed = self.hits.iter().position(|&other| other == at);
        let number = listed.or_else(|| {
            let is_of = |(_, series): &&(Range<usize>, HitSeries)| {
                !series.is_open && series.contains(all[at].rank, all[at].step)
            };
            self.series.iter().find(is_of).map(|(range, _)| range.start)
        });
        number.map(|number| self.line_of(number))
    }
}

/// Steps of one rank with equal hits, one after the other in the list; the hits of each step.
type Run<'a> = Vec<&'a [usize]>;

/// Joins steps of a rank that follow each other and have equal hits.
fn runs<'a>(all: &[Hit], by_step: &[&'a [usize]], first_cause: Option<usize>) -> Vec<Run<'a>> {
    let is_brief = |hits: &[usize]| hits.iter().all(|&at| all[at].step == all[at].last_step);
    let what = |at: &usize| {
        let hit = &all[*at];
        (hit.watchpoint, hit.severity, &hit.tensor)
    };
    let mut runs: Vec<Run<'a>> = Vec::new();
    let mut last_of: BTreeMap<u32, usize> = BTreeMap::new();
    for hits in by_step {
        let Some(rank) = hits.first().map(|&at| all[at].rank) else {
            continue;
        };
        let is_cause = first_cause.is_some_and(|cause| hits.contains(&cause));
        let before = last_of.get(&rank).and_then(|run| runs.get_mut(*run));
        match before {
            Some(run)
                if !is_cause
                    && is_brief(hits)
                    && run.last().is_some_and(|last| {
                        is_brief(last) && last.iter().map(what).eq(hits.iter().map(what))
                    }) =>
            {
                run.push(hits);
            }
            _ => {
                last_of.insert(rank, runs.len());
                runs.push(vec![hits]);
            }
        }
    }
    runs
}

/// True if a hit passes all filters but those of names.
fn passes(hit: &Hit, query: &FindingsQuery) -> bool {
    query
        .severity
        .is_none_or(|severity| severity == hit.severity)
        && query.rank.is_none_or(|rank| rank == hit.rank)
        && query.from_step.is_none_or(|step| hit.last_step >= step)
        && query.to_step.is_none_or(|step| hit.step <= step)
}

#[cfg(test)]
mod tests {
    use trainscope_analysis::watchpoint::Figures;
    use trainscope_format::Severity;

    use super::*;

    fn hits() -> Vec<Hit> {
        // Steps 0, 0, 0, 1, 1, …; ranks 0, 1, 0, …; one of three is an error.
        let hit = |number: u32| Hit {
            condition: trainscope_analysis::watchpoint::CONDITIONS[0],
            watchpoint: number % 2,
            severity: if number.is_multiple_of(3) {
                Severity::Error
            } else {
                Severity::Info
            },
            rank: number % 2,
            step: i64::from(number / 3),
            last_step: i64::from(number / 3),
            tensor: format!("Tensor:{number}").into(),
            node: None,
            values: Figures::default(),
            thresholds: Figures::default(),
            measure: None,
            sentence: trainscope_api::Sentence::default(),
            source: None,
        };
        (0..30).map(hit).collect()
    }

    #[test]
    fn lines_are_those_of_the_list_written_out() {
        let all = hits();
        for query in [
            FindingsQuery::default(),
            FindingsQuery {
                rank: Some(1),
                ..FindingsQuery::default()
            },
            FindingsQuery {
                severity: Some(Severity::Error),
                ..FindingsQuery::default()
            },
            FindingsQuery {
                from_step: Some(3),
                to_step: Some(7),
                ..FindingsQuery::default()
            },
            FindingsQuery {
                search: Some("tensor:1".to_owned()),
                ..FindingsQuery::default()
            },
            FindingsQuery {
                search: Some("C".to_owned()),
                ..FindingsQuery::default()
            },
            FindingsQuery {
                search: Some("no".to_owned()),
                ..FindingsQuery::default()
            },
        ] {
            let page = Page::new(&all, &Listing::new(&all), &query, (None, None));
            // The list, with `None` for the line above a group.
            let mut lines = Vec::new();
            for (number, &at) in page.hits.iter().enumerate() {
                if page.groups.contains(&number) {
                    lines.push(None);
                }
                lines.push(Some((number, at)));
            }
            assert_eq!(page.lines(), lines.len() as u64);
            for (line, entry) in (0_u64..).zip(&lines) {
                let (number, first_line) = page.at_line(line);
                let next = lines[usize::try_from(line).unwrap()..]
                    .iter()
                    .flatten()
                    .next()
                    .unwrap();
                assert_eq!(number, next.0, "{query:?} {line}");
                assert_eq!(lines[usize::try_from(first_line).unwrap()], Some(*next));
                let Some((_, at)) = entry else { continue };
                let hit = &all[*at];
                let name = if hit.watchpoint == 0 { "c" } else { "c~2" };
                let key = format!("{}:{}:{name}:{}", hit.rank, hit.step, hit.tensor);
                assert!(
                    page_wanted(&page, &all, &key).is_some_and(|found| found == line),
                    "{key}"
                );
            }
            assert_eq!(page.at_line(1_000).0, page.hits.len());
        }
        let found = |text: &str| {
            let query = FindingsQuery {
                search: Some(text.to_owned()),
                ..FindingsQuery::default()
            };
            Page::new(&all, &Listing::new(&all), &query, (None, None))
                .hits
                .len()
        };
        assert_eq!((found("TENSOR:1"), found("no"), found("")), (11, 0, 30));
        let errors = FindingsQuery {
            severity: Some(Severity::Error),
            ..FindingsQuery::default()
        };
        let page = Page::new(&all, &Listing::new(&all), &errors, (None, None));
        assert_eq!(page_wanted(&page, &all, "1:0:c~2:Tensor:1"), None);
    }

    /// Notes of ranks at steps: (rank, step, last step, tensor).
    fn notes(of: &[(u32, i64, i64, &str)]) -> Vec<Hit> {
        let one = hits().remove(0);
        let note = |&(rank, step, last_step, tensor): &(u32, i64, i64, &str)| Hit {
            rank,
            step,
            last_step,
            tensor: tensor.into(),
            watchpoint: 0,
            severity: Severity::Info,
            ..one.clone()
        };
        of.iter().map(note).collect()
    }

    /// The list with these series written out: `None` for the line above a group, else the step.
    fn folded(all: &[Hit], open: &str, first_cause: Option<usize>) -> (Page, Vec<Option<i64>>) {
        let query = FindingsQuery {
            open: Some(open.to_owned()),
            ..FindingsQuery::default()
        };
        let page = Page::new(all, &Listing::new(all), &query, (None, first_cause));
        let mut lines = Vec::new();
        for (number, &at) in page.hits.iter().enumerate() {
            let above = [&page.open, &page.groups];
            lines.extend(
                above
                    .iter()
                    .filter(|range| range.contains(&number))
                    .map(|_| None),
            );
            lines.push(Some(all[at].step));
        }
        assert_eq!(page.lines(), lines.len() as u64);
        for (line, at) in (0_u64..).zip(&lines) {
            let (number, first_line) = page.at_line(line);
            if at.is_some() {
                assert_eq!((page.line_of(number), first_line), (line, line));
            }
        }
        (page, lines)
    }

    #[test]
    fn equal_hits_of_consecutive_steps_are_one_series() {
        let all = notes(&[
            (0, 405, 405, "loss"),
            (0, 406, 406, "norm"),
            (0, 407, 407, "norm"),
            (0, 410, 410, "norm"),
            (0, 411, 900, "norm"),
        ]);
        let series = HitSeries {
            rank: 0,
            step: 406,
            last_step: 410,
            steps: 3,
            is_open: false,
        };
        let (page, lines) = folded(&all, "", None);
        // A lasting hit is not part of it.
        assert_eq!(lines, [None, Some(405), None, Some(406), None, Some(411)]);
        assert_eq!(page.total(), 5);
        assert_eq!(page.series(0, 5), std::slice::from_ref(&series));
        assert_eq!(page.series(2, 5), []);
        // Hits that are not listed are at the line of their series.
        assert_eq!(page.line_of_hit(&all, 3), Some(3));
        assert_eq!(page_wanted(&page, &all, "0:410:c:norm"), Some(3));
        let (page, lines) = folded(&all, "1:7,0:406", None);
        let open = HitSeries {
            is_open: true,
            ..series
        };
        // The series is known within its range, too.
        assert_eq!(page.series(3, 1), [open]);
        assert_eq!((page.series(0, 1).len(), page.series(4, 1).len()), (0, 0));
        let of = |steps: &[i64]| steps.iter().flat_map(|step| [None, Some(*step)]).collect();
        let mut wanted: Vec<Option<i64>> = of(&[405, 406, 407, 410, 411]);
        wanted.insert(2, None);
        assert_eq!(lines, wanted);
        assert_eq!(page.line_of_hit(&all, 3), Some(8));
    }

    #[test]
    fn series_are_of_one_rank_and_begin_with_the_first_cause() {
        let of_rank = |rank: u32| [1, 2, 3].map(|step| (rank, step, step, "norm"));
        let mut of: Vec<_> = of_rank(0).into_iter().chain(of_rank(1)).collect();
        of.sort_by_key(|(rank, step, ..)| (*step, *rank));
        let all = notes(&of);
        let (page, lines) = folded(&all, "", None);
        assert_eq!(lines, [None, Some(1), None, Some(1)]);
        assert_eq!(page.series(0, 9).len(), 2);
        assert_eq!(page.line_of_hit(&all, 5), Some(3));
        // The first cause is rank 0's at step 2: nothing hides it.
        let (page, lines) = folded(&all, "", Some(2));
        assert_eq!(lines, [None, Some(1), None, Some(1), None, Some(2)]);
        assert_eq!(page.series(0, 9).len(), 2);
    }

    #[test]
    fn hits_that_differ_are_no_series() {
        let mut all = notes(&[
            (0, 1, 1, "a"),
            (0, 2, 2, "b"),
            (0, 3, 3, "b"),
            (0, 3, 3, "c"),
        ]);
        let (page, _) = folded(&all, "", None);
        assert_eq!(page.series(0, 9), []);
        all.truncate(3);
        all[2].severity = Severity::Error;
        assert_eq!(folded(&all, "", None).0.series(0, 9), []);
        // Nothing is folded unless requested.
        let same = notes(&[(0, 1, 1, "a"), (0, 2, 2, "a")]);
        let query = FindingsQuery::default();
        let page = Page::new(&same, &Listing::new(&same), &query, (None, None));
        assert_eq!((page.lines(), page.series(0, 9).len()), (4, 0));
    }

    fn page_wanted(page: &Page, all: &[Hit], key: &str) -> Option<u64> {
        let told = |hit: &Hit| trainscope_api::findings::Hit {
            condition: hit.condition.id.to_owned(),
            watchpoint: hit.watchpoint,
            nth: 0,
            severity: hit.severity,
            rank: hit.rank,
            step: hit.step,
            last_step: hit.last_step,
            tensor: hit.tensor.to_string(),
            node: None,
            values: std::collections::BTreeMap::new(),
            thresholds: std::collections::BTreeMap::new(),
            measures: Vec::new(),
            sentence: trainscope_api::Sentence::default(),
            explains: None,
            source: None,
        };
        let number_of = |name: &str| ["c", "c~2"].iter().position(|known| *known == name);
        let number_of = |name: &str| u32::try_from(number_of(name)?).ok();
        page.wanted(all, key, number_of, told)?.line
    }
}
