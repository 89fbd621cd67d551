//! Facts of the program of a run: the newest of each, and their description in words.

mod chain;
mod description;
mod probes;

use trainscope_api::program::{MAX_FACTS, ProgramFacts, RecordedFact};
use trainscope_api::records::RecordsQuery;
use trainscope_format::float::Float;
use trainscope_format::{Body, Kind};

use crate::index::{Index, ReadError};

/// The newest fact of each rank and tag, by rank and then by tag.
pub(crate) fn facts(index: &Index, run: &str) -> Result<ProgramFacts, ReadError> {
    let mut tags = index.tags_of(run, Kind::Program)?;
    tags.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    let cut = tags.len() > MAX_FACTS;
    let mut facts = Vec::new();
    for (tag, rank) in tags.into_iter().take(MAX_FACTS) {
        let query = RecordsQuery {
            run: run.to_owned(),
            tag: tag.to_string(),
            rank,
            ..RecordsQuery::default()
        };
        let mut newest: Option<RecordedFact> = None;
        index.each_record(Kind::Program, &query, |at| {
            let Body::Program(fact) = at.body else {
                return;
            };
            let numbers = fact.numbers.into_iter();
            newest = Some(RecordedFact {
                rank,
                first_step: newest.as_ref().map_or(at.step, |fact| fact.first_step),
                step: at.step,
                kind: fact.kind,
                subject: fact.subject,
                numbers: numbers.map(|(name, value)| (name, Float(value))).collect(),
                texts: fact.texts.into_iter().collect(),
                source: fact.source,
            });
        })?;
        facts.extend(newest);
    }
    Ok(ProgramFacts {
        description: description::rows(&facts),
        chain: chain::chain(&facts),
        probes: probes::probes(&facts),
        facts,
        cut,
    })
}

/// Facts of a kind of the first rank that has any: ranks run the same program.
fn of_kind<'a>(facts: &'a [RecordedFact], kind: &'a str) -> impl Iterator<Item = &'a RecordedFact> {
    let mut all = facts
        .iter()
        .filter(move |fact| fact.kind == kind)
        .peekable();
    let rank = all.peek().map(|fact| fact.rank);
    all.filter(move |fact| Some(fact.rank) == rank)
}
