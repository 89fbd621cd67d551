//! `/api/findings`: what watchpoints have found in one run.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use trainscope_analysis::watchpoint::catalogue::Text;
use trainscope_analysis::watchpoint::{self, Watchpoint};
use trainscope_api::error::{ApiError, ErrorCode};
use trainscope_api::findings::{
    Counts, DEFAULT_HITS, DamagedPlace, Findings, FindingsQuery, FirstCause, FirstHit, Health, Hit,
    Inconclusive, Judged, Judging, MAX_HITS, Watched, Words,
};
use trainscope_format::Severity;
use trainscope_format::float::Float;

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::diagnosis::JudgedRun;

/// What watchpoints have found in a run
#[utoipa::path(
    get,
    path = "/api/findings",
    operation_id = "findings",
    params(FindingsQuery),
    responses(
        (status = 200, description = "Hits, and where it began", body = Findings),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<FindingsQuery>,
) -> Result<Response, Failure> {
    let limit = query.limit.unwrap_or(DEFAULT_HITS);
    if !(1..=MAX_HITS).contains(&limit) {
        let message = format!("`limit` wants 1 to {MAX_HITS}, not {limit}");
        return Err(Failure::bad_request(message));
    }
    blocking(move || match site.diagnosis.of(&query.run) {
        Some(judged) => json(&answer(&judged, &query, limit)),
        None if site.index.runs().runs.iter().any(|run| run.id == query.run) => {
            json(&Findings::default())
        }
        None => {
            let message = format!("there is no run `{}`", query.run);
            Err(Failure::new(ErrorCode::UnknownRun, message))
        }
    })
    .await
}

fn answer(judged: &JudgedRun, query: &FindingsQuery, limit: usize) -> Findings {
    let findings = &judged.findings;
    let wanted = query.search.as_ref().map(|text| text.to_lowercase());
    let has = |text: &str| {
        wanted
            .as_ref()
            .is_none_or(|w| text.to_lowercase().contains(w))
    };
    let is_asked = |hit: &&watchpoint::Hit| {
        query
            .severity
            .is_none_or(|severity| severity == hit.severity)
            && query
                .watchpoint
                .is_none_or(|watchpoint| watchpoint == hit.watchpoint)
            && (has(&hit.tensor)
                || has(&hit.condition)
                || hit.node.as_ref().is_some_and(|node| has(node)))
    };
    let asked = findings.hits.iter().filter(is_asked);
    let first_cause = findings.first_cause.as_ref().and_then(|cause| {
        Some(FirstCause {
            hit: hit(findings.hits.get(cause.hit)?),
            explains: cause.explains.len() as u64,
            sentence: words(&cause.sentence),
            advice: words(&cause.advice),
        })
    });
    let inconclusive = findings
        .inconclusive
        .iter()
        .take(limit)
        .map(|item| Inconclusive {
            condition: item.condition.to_string(),
            rank: item.rank,
            step: item.step,
            tensor: item.tensor.to_string(),
            reason: serde_json::to_value(item.reason)
                .ok()
                .and_then(|name| Some(name.as_str()?.to_owned()))
                .unwrap_or_default(),
            steps: item.steps,
        });
    let damaged = judged
        .damaged
        .iter()
        .map(|(file, offset, reason)| DamagedPlace {
            file: file.clone(),
            offset: *offset,
            reason: reason.clone(),
        });
    let mut hits_of: BTreeMap<u32, u64> = BTreeMap::new();
    for hit in &findings.hits {
        *hits_of.entry(hit.watchpoint).or_insert(0) += 1;
    }
    let all = (0..).zip(judged.watchpoints.all());
    Findings {
        state: if judged.is_behind() {
            Judging::Behind
        } else {
            Judging::Done
        },
        first_cause,
        total: asked.clone().count() as u64,
        hits: asked.skip(query.from).take(limit).map(hit).collect(),
        counts: counts(findings),
        inconclusive: inconclusive.collect(),
        damaged: damaged.collect(),
        judged: Judged {
            tensors: findings.judged.tensors,
            steps: findings.judged.steps,
        },
        watchpoints: all
            .map(|(index, own)| watched(own, hits_of.get(&index).copied().unwrap_or(0)))
            .collect(),
        watchpoints_file: judged
            .watchpoints_file
            .as_ref()
            .map(|path| path.display().to_string()),
        watchpoints_problem: judged.watchpoints_problem.clone(),
    }
}

/// How a run is, in the list of runs.
pub(super) fn health(judged: &JudgedRun) -> Health {
    let findings = &judged.findings;
    let first = findings.first_hit().map(|hit| {
        let watchpoint = judged.watchpoints.all().get(hit.watchpoint as usize);
        FirstHit {
            condition: hit.condition.to_string(),
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
    }
}

fn counts(findings: &watchpoint::Findings) -> Counts {
    let mut counts = Counts::default();
    for hit in &findings.hits {
        match hit.severity {
            Severity::Error => counts.error += 1,
            Severity::Warning => counts.warning += 1,
            Severity::Info => counts.info += 1,
        }
    }
    counts
}

fn hit(hit: &watchpoint::Hit) -> Hit {
    let numbers = |numbers: &BTreeMap<std::sync::Arc<str>, Float>| {
        let named = numbers
            .iter()
            .map(|(name, number)| (name.to_string(), *number));
        named.collect::<BTreeMap<_, _>>()
    };
    Hit {
        condition: hit.condition.to_string(),
        watchpoint: hit.watchpoint,
        severity: hit.severity,
        rank: hit.rank,
        step: hit.step,
        last_step: hit.last_step,
        tensor: hit.tensor.to_string(),
        node: hit.node.as_ref().map(ToString::to_string),
        values: numbers(&hit.values),
        thresholds: numbers(&hit.thresholds),
        sentence: words(&hit.sentence),
    }
}

fn watched(own: &Watchpoint, hits: u64) -> Watched {
    let limits = own.condition.parameters.iter().zip(own.limits);
    let limits = limits.filter(|(_, limit)| !limit.is_nan());
    Watched {
        condition: own.condition.id.to_owned(),
        title: title(own),
        target: serde_json::to_value(own.condition.target)
            .ok()
            .and_then(|name| Some(name.as_str()?.to_owned()))
            .unwrap_or_default(),
        limits: limits
            .map(|(parameter, limit)| (parameter.name.to_owned(), Float(limit)))
            .collect(),
        severity: own.severity,
        hits,
        advice: text(own.condition.advice),
    }
}

/// The name that somebody gave a watchpoint, or what its condition says.
fn title(own: &Watchpoint) -> Words {
    match &own.name {
        Some(name) => Words {
            en: name.clone(),
            zh: name.clone(),
        },
        None => text(own.condition.says),
    }
}

fn text(text: Text) -> Words {
    Words {
        en: text.en.to_owned(),
        zh: text.zh.to_owned(),
    }
}

fn words(sentence: &watchpoint::finding::Sentence) -> Words {
    Words {
        en: sentence.en.clone(),
        zh: sentence.zh.clone(),
    }
}
