//! Baseline: hits in the JSON of an earlier check are not reported again.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use trainscope_analysis::watchpoint::{Findings, Hit};

use crate::cli::mistake::Mistake;
use crate::cli::words;

/// Known hits: condition, run, rank and tensor, without the step: the same fault a step later is the same hit.
#[derive(Debug, Default)]
pub(super) struct Baseline(HashSet<KnownHit>);

#[derive(Debug, PartialEq, Eq, Hash, Deserialize)]
struct KnownHit {
    condition: String,
    run: String,
    rank: u32,
    tensor: String,
}

#[derive(Deserialize)]
struct Answer {
    hits: Vec<KnownHit>,
    #[serde(default)]
    notes: Vec<KnownHit>,
}

impl Baseline {
    pub(super) fn read(path: &Path) -> Result<Self, Mistake> {
        let bad = |what: String| {
            Mistake::new(2, what)
                .at(format!("--baseline {}", words::path(path)))
                .attempt("make one: trainscope check DIR --format json -o FILE")
        };
        let text = fs::read_to_string(path)
            .map_err(|error| bad(format!("the baseline cannot be read: {error}")))?;
        let answer: Answer = serde_json::from_str(&text)
            .map_err(|error| bad(format!("the baseline is no answer of check: {error}")))?;
        Ok(Self(answer.hits.into_iter().chain(answer.notes).collect()))
    }

    /// True if a hit is in the baseline.
    pub(super) fn knows(&self, run: &str, hit: &Hit) -> bool {
        !self.0.is_empty()
            && self.0.contains(&KnownHit {
                condition: hit.condition.id.to_owned(),
                run: run.to_owned(),
                rank: hit.rank,
                tensor: hit.tensor.to_string(),
            })
    }
}

/// Removes hits, updates references to them, and returns the number removed.
pub(super) fn retain(findings: &mut Findings, keep: impl Fn(&Hit) -> bool) -> u64 {
    let before = findings.hits.len();
    // New index of each hit.
    let mut places = Vec::with_capacity(before);
    let mut next = 0;
    for hit in &findings.hits {
        let is_kept = keep(hit);
        places.push(is_kept.then_some(next));
        next += usize::from(is_kept);
    }
    let mut kept = places.iter().map(Option::is_some);
    findings.hits.retain(|_| kept.next().unwrap_or(true));
    let place = |at: usize| places.get(at).copied().flatten();
    let kept_of = |explains: &[usize]| explains.iter().filter_map(|&at| place(at)).collect();
    findings.first_cause = findings.first_cause.take().and_then(|mut cause| {
        cause.hit = place(cause.hit)?;
        cause.explains = kept_of(&cause.explains);
        Some(cause)
    });
    findings.causes.retain_mut(|cause| {
        cause.explains = kept_of(&cause.explains);
        place(cause.hit).is_some_and(|at| {
            cause.hit = at;
            true
        })
    });
    (before - findings.hits.len()) as u64
}
