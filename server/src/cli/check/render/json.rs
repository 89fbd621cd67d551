//! JSON output for programs: a stable format, in which keys are only added.

use std::io::{self, Write};

use serde::Serialize;
use trainscope_analysis::watchpoint::{Cause, Figures, Hit, Inconclusive, Missing};
use trainscope_api::findings::{Coverage, SharedNames, Verdict};
use trainscope_format::Severity;
use trainscope_format::program::SourceLine;

use super::super::report::Report;
use super::phrases::same_names;
use crate::judging::judge::{Fault, Judgement};

/// Version of the format; raised when a key changes its meaning.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    first_cause: Option<JsonHit<'a>>,
    /// First cause in each step of each rank of each run.
    causes: Vec<JsonCause<'a>>,
    /// Hits at or above `--fail-on`: non-empty exactly if the exit status is 1.
    hits: Vec<JsonHit<'a>>,
    /// Hits below it.
    notes: Vec<JsonHit<'a>>,
    inconclusive: Vec<JsonInconclusive<'a>>,
    /// Tensors of unsupported element types.
    unread: Vec<JsonUnread<'a>>,
    /// Files of one step that hold tensors of the same names.
    shared_names: Vec<JsonShared<'a>>,
    damaged: Vec<&'a Fault>,
    truncated: Vec<&'a Fault>,
    /// Pipes, sockets and devices, which are not read.
    skipped: Vec<JsonSkipped<'a>>,
    judged: JsonJudged,
    /// The verdict on each run, worst first.
    runs: Vec<JsonRun<'a>>,
    /// Outcome of the training of `--live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a super::super::outcome::LiveOutcome>,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    run: &'a str,
    verdict: Verdict,
    summary: String,
    /// Facts about the files that explain the curves.
    about_files: Vec<&'a str>,
    judged: JsonJudged,
    /// Conditions without data.
    without_data: Vec<&'a str>,
}

#[derive(Serialize)]
struct JsonSkipped<'a> {
    file: &'a str,
    reason: String,
}

#[derive(Serialize)]
struct JsonHit<'a> {
    condition: &'a str,
    severity: Severity,
    run: &'a str,
    rank: u32,
    step: i64,
    tensor: &'a str,
    node: Option<&'a str>,
    values: &'a Figures,
    thresholds: &'a Figures,
    /// The finding in words.
    sentence: &'a str,
    /// Line of the program that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a SourceLine>,
}

#[derive(Serialize)]
struct JsonCause<'a> {
    hit: JsonHit<'a>,
    /// Number of hits of the same step and rank that follow from it.
    explains: usize,
    sentence: &'a str,
}

#[derive(Serialize)]
struct JsonInconclusive<'a> {
    condition: &'a str,
    run: &'a str,
    rank: u32,
    step: i64,
    tensor: &'a str,
    reason: Missing,
}

#[derive(Serialize)]
struct JsonUnread<'a> {
    run: &'a str,
    rank: u32,
    step: i64,
    steps: u64,
    tensor: &'a str,
    dtype: &'a str,
}

#[derive(Serialize)]
struct JsonShared<'a> {
    run: &'a str,
    #[serde(flatten)]
    names: &'a SharedNames,
    sentence: String,
}

#[derive(Serialize)]
struct JsonJudged {
    tensors: u64,
    /// Tensors with histograms only: judged for NaN, Inf and unchanged weights only.
    histograms: u64,
    scalars: u64,
    /// Points of scalars outside of the curves: judged for NaN and infinities alone.
    overwritten: u64,
    /// Tensors that no watchpoint applies to.
    unwatched: u64,
    /// Profiles, one for each rank.
    profiles: u64,
    steps: u64,
    watchpoints: u64,
}

impl JsonJudged {
    fn of(runs: &[Judgement], watchpoints: u64) -> Self {
        let sum = |of: fn(&Coverage) -> u64| runs.iter().map(|run| of(&run.findings.judged)).sum();
        Self {
            tensors: sum(|judged| judged.tensors),
            histograms: sum(|judged| judged.histograms),
            scalars: sum(|judged| judged.scalars),
            overwritten: sum(|judged| judged.overwritten),
            unwatched: sum(|judged| judged.unwatched),
            profiles: sum(|judged| judged.profiles),
            steps: sum(|judged| judged.steps),
            watchpoints,
        }
    }
}

impl<'a> JsonRun<'a> {
    fn of(run: &'a Judgement) -> Self {
        let all = run.watchpoints.all();
        let condition = |index: &u32| Some(all.get(*index as usize)?.condition.id);
        Self {
            run: &run.name,
            verdict: run.findings.verdict(),
            summary: run.findings.summary().en,
            about_files: run
                .findings
                .about_files
                .iter()
                .map(|sentence| &*sentence.en)
                .collect(),
            judged: JsonJudged::of(std::slice::from_ref(run), run.watchpoints.watching()),
            without_data: run
                .findings
                .without_data
                .iter()
                .filter_map(condition)
                .collect(),
        }
    }
}

impl<'a> JsonHit<'a> {
    fn of(run: &'a Judgement, hit: &'a Hit) -> Self {
        Self {
            condition: hit.condition.id,
            severity: hit.severity,
            run: &run.name,
            rank: hit.rank,
            step: hit.step,
            tensor: &hit.tensor,
            node: hit.node.as_deref(),
            values: &hit.values,
            thresholds: &hit.thresholds,
            sentence: &hit.sentence.en,
            source: run.source(hit),
        }
    }
}

impl<'a> JsonCause<'a> {
    fn of(run: &'a Judgement, cause: &'a Cause) -> Option<Self> {
        Some(Self {
            hit: JsonHit::of(run, run.findings.hits.get(cause.hit)?),
            explains: cause.explains.len(),
            sentence: &cause.sentence.en,
        })
    }
}

impl<'a> JsonInconclusive<'a> {
    fn of(run: &'a Judgement, item: &'a Inconclusive) -> Self {
        Self {
            condition: item.condition.id,
            run: &run.name,
            rank: item.rank,
            step: item.step,
            tensor: &item.tensor,
            reason: item.reason,
        }
    }
}

pub(in crate::cli::check) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let hits = |counts: bool| {
        let all = report.runs.iter().flat_map(|run| {
            let hits = run.findings.hits.iter();
            hits.map(move |hit| (run, hit))
        });
        all.filter(|(_, hit)| report.counts(hit) == counts)
            .map(|(run, hit)| JsonHit::of(run, hit))
            .collect()
    };
    let unreadable = report.unreadable.iter().map(|(folder, reason)| Fault {
        file: folder.as_str().into(),
        offset: 0,
        reason: reason.clone(),
        len_bytes: 0,
    });
    let unreadable: Vec<Fault> = unreadable.collect();
    let answer = Answer {
        version: VERSION,
        first_cause: report.first_cause().map(|(run, hit)| JsonHit::of(run, hit)),
        causes: report
            .runs
            .iter()
            .flat_map(|run| {
                let all = run.findings.causes.iter();
                all.filter_map(move |cause| JsonCause::of(run, cause))
            })
            .collect(),
        hits: hits(true),
        notes: hits(false),
        inconclusive: report
            .runs
            .iter()
            .flat_map(|run| {
                let all = run.findings.inconclusive.iter();
                all.map(move |item| JsonInconclusive::of(run, item))
            })
            .collect(),
        unread: report.runs.iter().flat_map(unread).collect(),
        shared_names: report.runs.iter().flat_map(shared_names).collect(),
        damaged: report
            .runs
            .iter()
            .flat_map(|run| &run.damaged)
            .chain(&unreadable)
            .collect(),
        truncated: report.runs.iter().flat_map(|run| &run.truncated).collect(),
        skipped: report
            .special
            .iter()
            .map(|(file, what)| JsonSkipped {
                file,
                reason: format!("it is {what}"),
            })
            .collect(),
        judged: JsonJudged::of(&report.runs, report.watchpoints.watching()),
        runs: report.runs.iter().map(JsonRun::of).collect(),
        live: report.live.as_ref(),
    };
    serde_json::to_writer_pretty(&mut *out, &answer)?;
    writeln!(out)
}

fn unread(run: &Judgement) -> impl Iterator<Item = JsonUnread<'_>> {
    run.findings.unread.iter().map(|tensor| JsonUnread {
        run: &run.name,
        rank: tensor.rank,
        step: tensor.step,
        steps: tensor.steps,
        tensor: &tensor.tensor,
        dtype: &tensor.dtype,
    })
}

fn shared_names(run: &Judgement) -> impl Iterator<Item = JsonShared<'_>> {
    run.shared.iter().map(|names| JsonShared {
        run: &run.name,
        names,
        sentence: same_names(names),
    })
}
