//! Filtered hits as a list whose lines can be counted without sending them.

use trainscope_analysis::watchpoint::Hit;
use trainscope_api::findings::{FindingsQuery, WantedHit};

use crate::judging::Listing;

/// Hits of a run that match a query.
pub(crate) struct Page {
    /// Indices of the hits by step, by rank, then in the order of data flow.
    pub(super) hits: Vec<usize>,
    /// Places in `hits` at which a step of a rank begins.
    pub(super) groups: Vec<usize>,
}

impl Page {
    /// Filters the hits by the query, and by this watchpoint if one is given.
    pub(crate) fn new(
        all: &[Hit],
        listing: &Listing,
        query: &FindingsQuery,
        watchpoint: Option<u32>,
    ) -> Self {
        let finder = query.search.as_ref().map(|text| listing.finder(text));
        let is_found = |at: usize| finder.as_ref().is_none_or(|is_found| is_found(at));
        let order = listing.order.iter().copied();
        let hits: Vec<usize> = order
            .filter(|&at| watchpoint.is_none_or(|own| own == all[at].watchpoint))
            .filter(|&at| passes(&all[at], query) && is_found(at))
            .collect();
        let place = |at: usize| (all[at].step, all[at].rank);
        let starts = |&number: &usize| {
            number
                .checked_sub(1)
                .is_none_or(|before| place(hits[before]) != place(hits[number]))
        };
        let groups = (0..hits.len()).filter(starts).collect();
        Self { hits, groups }
    }

    /// Number of lines of the whole list, with one above each group.
    pub(crate) fn lines(&self) -> u64 {
        (self.hits.len() + self.groups.len()) as u64
    }

    /// The line of a hit, by its position.
    pub(crate) fn line_of(&self, number: usize) -> u64 {
        (number + self.groups.partition_point(|&first| first <= number)) as u64
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

    /// The line of a hit by its index, if it is on the list.
    pub(crate) fn line_of_hit(&self, all: &[Hit], at: usize) -> Option<u64> {
        let place = |at: usize| Some((all.get(at)?.step, all.get(at)?.rank, at));
        let number = self.hits.partition_point(|&own| place(own) < place(at));
        (self.hits.get(number) == Some(&at)).then(|| self.line_of(number))
    }
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
            sentence: trainscope_analysis::watchpoint::Sentence::default(),
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
            let page = Page::new(&all, &Listing::new(&all), &query, None);
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
                    page_wanted(&page, &all, &key).is_some_and(|own| own == line),
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
            Page::new(&all, &Listing::new(&all), &query, None)
                .hits
                .len()
        };
        assert_eq!((found("TENSOR:1"), found("no"), found("")), (11, 0, 30));
        let errors = FindingsQuery {
            severity: Some(Severity::Error),
            ..FindingsQuery::default()
        };
        let page = Page::new(&all, &Listing::new(&all), &errors, None);
        assert_eq!(page_wanted(&page, &all, "1:0:c~2:Tensor:1"), None);
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
            sentence: trainscope_api::findings::Words::default(),
            explains: None,
            source: None,
        };
        let number_of = |name: &str| ["c", "c~2"].iter().position(|own| *own == name);
        let number_of = |name: &str| u32::try_from(number_of(name)?).ok();
        page.wanted(all, key, number_of, told)?.line
    }
}
