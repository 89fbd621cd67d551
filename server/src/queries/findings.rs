//! Findings of one run in the types of the API: hits, their first cause, and unjudged data.

use std::collections::BTreeMap;

use trainscope_analysis::watchpoint::{self, Watchpoint};
use trainscope_analysis::{diagnosis, guide};
use trainscope_api::Sentence;
use trainscope_api::findings::{
    Counts, DamagedPlace, Findings, FindingsQuery, FirstCause, FirstHit, Health, Hit, HitNotice,
    Inconclusive, JudgementState, Remark, RemarkState, WatchpointResult,
};
use trainscope_api::guide::GuideRow;
use trainscope_format::Severity;
use trainscope_format::float::Float;

use super::hit_page::Page;
use crate::judging::JudgedRun;
use crate::watchpoints::name_of;

/// Maximum number of ranks in an answer.
const MAX_RANKS: usize = 1_000;

/// Findings of a judged run: at most `limit` of the requested hits.
pub(crate) fn answer(judged: &JudgedRun, query: &FindingsQuery, limit: usize) -> Findings {
    let findings = &judged.findings;
    let listing = judged.listing();
    let number_of = |name: &str| number_of(&judged.watchpoints, name);
    // An unknown watchpoint has no hits.
    let watchpoint = query.watchpoint.as_deref();
    let watchpoint = watchpoint.map(|name| number_of(name).unwrap_or(u32::MAX));
    let cause = findings.first_cause.as_ref().map(|cause| cause.hit);
    let page = Page::new(&findings.hits, listing, query, (watchpoint, cause));
    let (from, first_line) = match query.line {
        Some(line) => page.at_line(line),
        None => (query.from, page.line_of(query.from)),
    };
    let sent = page.hits.iter().skip(from).take(limit);
    let starts_group = page.groups.binary_search(&from).is_ok();
    let own_hit = |found: &watchpoint::Hit| hit(judged, found);
    let wanted = query
        .hit
        .as_ref()
        .and_then(|key| page.wanted(&findings.hits, key, number_of, own_hit));
    let first_cause = findings.first_cause.as_ref().and_then(|cause| {
        Some(FirstCause {
            hit: hit(judged, findings.hits.get(cause.hit)?),
            line: page.line_of_hit(&findings.hits, cause.hit),
            explains: cause.explains.len() as u64,
            sentence: cause.sentence.clone(),
            advice: cause.advice.clone(),
        })
    });
    let inconclusive = findings
        .inconclusive
        .iter()
        .take(limit)
        .map(|item| Inconclusive {
            condition: item.condition.id.to_owned(),
            rank: item.rank,
            step: item.step,
            tensor: item.tensor.to_string(),
            reason: name_of(&item.reason),
            words: item.reason.words().into(),
            steps: item.steps,
        });
    let damaged = judged.damaged.iter().map(|fault| DamagedPlace {
        file: fault.file.to_string(),
        offset: fault.offset,
        reason: fault.reason.clone(),
    });
    let all = (0..).zip(judged.watchpoints.all());
    let mut unjudged: BTreeMap<u32, u64> = BTreeMap::new();
    for item in &findings.inconclusive {
        *unjudged.entry(item.watchpoint).or_default() += 1;
    }
    let mut worst: BTreeMap<u32, Severity> = BTreeMap::new();
    for hit in &findings.hits {
        let worst = worst.entry(hit.watchpoint).or_insert(hit.severity);
        *worst = hit.severity.max(*worst);
    }
    let of = |counts: &BTreeMap<u32, u64>, index| counts.get(&index).copied().unwrap_or(0);
    Findings {
        state: JudgementState::Done,
        progress: None,
        verdict: findings.verdict(),
        summary: findings.summary(),
        damage: findings.damaged(),
        about_files: findings.about_files.clone(),
        first_cause,
        total: page.total(),
        lines: page.lines(),
        first_line,
        starts_group,
        series: page.series(from, limit),
        hits: sent
            .filter_map(|&at| findings.hits.get(at))
            .map(own_hit)
            .collect(),
        wanted,
        ranks: listing.ranks.iter().copied().take(MAX_RANKS).collect(),
        counts: counts(findings),
        inconclusive: inconclusive.collect(),
        unread: findings.unread.iter().take(limit).cloned().collect(),
        shared: judged.shared.clone(),
        remarks: judged.remarks.iter().map(remark).collect(),
        guide: guide_of(judged),
        damaged: damaged.collect(),
        judged: findings.judged,
        watchpoints: all
            .map(|(index, watchpoint)| WatchpointResult {
                has_data: findings.without_data.binary_search(&index).is_err(),
                worst: worst.get(&index).copied(),
                ..watched(
                    watchpoint,
                    of(&listing.hits_of, index),
                    of(&unjudged, index),
                )
            })
            .collect(),
        watchpoints_file: judged
            .watchpoints_file
            .as_ref()
            .map(|path| path.display().to_string()),
        watchpoints_problem: judged.watchpoints_problem.clone(),
    }
}

/// State of a run for the list of runs.
pub(crate) fn health(judged: &JudgedRun) -> Health {
    let findings = &judged.findings;
    let first = findings.first_hit().map(|hit| {
        let watchpoint = judged.watchpoints.all().get(hit.watchpoint as usize);
        FirstHit {
            condition: hit.condition.id.to_owned(),
            severity: hit.severity,
            title: watchpoint.map(title).unwrap_or_default(),
            step: hit.step,
            tensor: hit.tensor.to_string(),
            rank: hit.rank,
        }
    });
    Health {
        counts: counts(findings),
        first,
        verdict: findings.verdict(),
        summary: findings.summary(),
    }
}

/// Numbers of hits of a run by severity, the only ones that pages show.
fn counts(findings: &watchpoint::Findings) -> Counts {
    let mut counts = Counts::default();
    for hit in &findings.hits {
        counts.add(hit.severity);
    }
    counts
}

/// A hit as alarms send it.
pub(crate) fn notice_of(run: &str, judged: &JudgedRun, found: &watchpoint::Hit) -> HitNotice {
    let watchpoint = judged.watchpoints.all().get(found.watchpoint as usize);
    let first = judged.findings.first_cause.as_ref();
    let first = first.filter(|first| is_at(&judged.findings, first.hit, found));
    HitNotice {
        run: run.to_owned(),
        session: None,
        title: watchpoint.map(title).unwrap_or_default(),
        hit: hit(judged, found),
        advice: first.map_or_else(
            || {
                let advice = watchpoint.map(|watchpoint| {
                    watchpoint
                        .condition
                        .text(|condition| condition.advice)
                        .into()
                });
                advice.unwrap_or_default()
            },
            |first| first.advice.clone(),
        ),
    }
}

/// A hit in the types of the API.
pub(crate) fn hit(judged: &JudgedRun, hit: &watchpoint::Hit) -> Hit {
    let numbers = |numbers: &watchpoint::Figures| {
        let named = numbers
            .iter()
            .map(|(name, number)| (name.to_string(), *number));
        named.collect::<BTreeMap<_, _>>()
    };
    // The first cause carries the number of hits that it explains in every answer.
    let first = judged.findings.first_cause.as_ref();
    let first = first.filter(|first| is_at(&judged.findings, first.hit, hit));
    let cause = first
        .map(|first| (&first.sentence, first.explains.len()))
        .or_else(|| {
            let cause = cause(&judged.findings, hit)?;
            Some((&cause.sentence, cause.explains.len()))
        });
    let before = judged.watchpoints.all().get(..hit.watchpoint as usize);
    let alike = before.into_iter().flatten();
    let alike = alike.filter(|watchpoint| watchpoint.condition == hit.condition);
    Hit {
        condition: hit.condition.id.to_owned(),
        watchpoint: hit.watchpoint,
        nth: u32::try_from(alike.count()).unwrap_or(u32::MAX),
        severity: hit.severity,
        rank: hit.rank,
        step: hit.step,
        last_step: hit.last_step,
        tensor: hit.tensor.to_string(),
        node: hit.node.as_ref().map(ToString::to_string),
        values: numbers(&hit.values),
        thresholds: numbers(&hit.thresholds),
        measures: hit.measures(),
        sentence: cause
            .map_or(&hit.sentence, |(sentence, _)| sentence)
            .clone(),
        explains: cause.map(|(_, explains)| explains as u64),
        source: judged.source(hit).cloned(),
    }
}

/// The cause that began the step of a hit's rank, if it is this hit.
fn cause<'a>(
    findings: &'a watchpoint::Findings,
    hit: &watchpoint::Hit,
) -> Option<&'a watchpoint::Cause> {
    let of = |cause: &watchpoint::Cause| findings.hits.get(cause.hit);
    let at = findings
        .causes
        .binary_search_by_key(&Some((hit.step, hit.rank)), |cause| {
            of(cause).map(|hit| (hit.step, hit.rank))
        });
    let cause = findings.causes.get(at.ok()?)?;
    is_at(findings, cause.hit, hit).then_some(cause)
}

/// True if the hit at an index is this one.
fn is_at(findings: &watchpoint::Findings, at: usize, hit: &watchpoint::Hit) -> bool {
    let listed = findings.hits.get(at);
    listed.is_some_and(|listed| std::ptr::eq(listed, hit))
}

/// Index of a watchpoint by its [`watchpoint_name`](trainscope_api::findings::watchpoint_name), or by its number.
fn number_of(watchpoints: &watchpoint::Watchpoints, name: &str) -> Option<u32> {
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    let (condition, place) = match name.split_once('~') {
        Some((condition, place)) => (condition, place.parse::<usize>().ok()?),
        None => (name, 1),
    };
    let mut alike = (0..).zip(watchpoints.all());
    let alike = alike
        .by_ref()
        .filter(|(_, watchpoint)| watchpoint.condition.id == condition);
    let mut alike = alike.skip(place.checked_sub(1)?);
    alike.next().map(|(number, _)| number)
}

/// Rows of the guided diagnosis.
fn guide_of(judged: &JudgedRun) -> Vec<GuideRow> {
    let findings = &judged.findings;
    let is_damaged = !judged.damaged.is_empty();
    let rows = guide::rows(findings, &judged.watchpoints, &judged.remarks, is_damaged);
    let row = |row: guide::Row| GuideRow {
        topic: row.topic,
        state: row.state,
        watched: row.watched,
        hits: row.hits,
        worst: row
            .worst
            .and_then(|at| Some(hit(judged, findings.hits.get(at)?))),
        remark: row
            .remark
            .and_then(|at| Some(remark(judged.remarks.get(at)?))),
        sentence: row.sentence,
    };
    rows.into_iter().map(row).collect()
}

fn remark(remark: &diagnosis::Remark) -> Remark {
    Remark {
        rule: remark.rule.name().to_owned(),
        topic: remark.rule.topic(),
        title: remark.rule.title().into(),
        state: match remark.state {
            diagnosis::State::Unknown => RemarkState::Unknown,
            diagnosis::State::Fine => RemarkState::Fine,
            diagnosis::State::Note => RemarkState::Note,
            diagnosis::State::Fault | diagnosis::State::Error => RemarkState::Fault,
        },
        sentence: remark.sentence.clone(),
        node: remark.node.clone(),
        part: remark.rule.part(),
        source: remark.source.as_deref().cloned(),
        places: remark.places,
        record: remark.record.to_owned(),
    }
}

fn watched(watchpoint: &Watchpoint, hits: u64, unjudged: u64) -> WatchpointResult {
    WatchpointResult {
        condition: watchpoint.condition.id.to_owned(),
        title: title(watchpoint),
        target: name_of(&watchpoint.condition.target),
        finds_not_finite: watchpoint.condition.finds_not_finite,
        limits: watchpoint
            .limits
            .iter()
            .map(|(key, limit)| (key.to_string(), Float(limit)))
            .collect(),
        is_on: watchpoint.on,
        has_data: true,
        severity: watchpoint.severity,
        worst: None,
        hits,
        unjudged,
        advice: watchpoint
            .condition
            .text(|condition| condition.advice)
            .into(),
    }
}

/// The name of a watchpoint in its file, or the title of its condition.
pub(crate) fn title(watchpoint: &Watchpoint) -> Sentence {
    match &watchpoint.name {
        Some(name) => Sentence::new(name, name),
        None => watchpoint.condition.text(|condition| condition.says).into(),
    }
}
