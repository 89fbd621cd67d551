//! SARIF 2.1.0 output for code scanning: a rule per condition, a result per hit.
//!
//! The types are written by hand: `serde-sarif` 0.8 generates those of the whole schema in a build script (seven more
//! crates), leaves levels and versions as untyped JSON, and builds only if another crate turns on the derive feature of
//! `serde`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::json;
use trainscope_analysis::watchpoint::{Figures, Hit};
use trainscope_api::findings::Verdict;
use trainscope_format::Severity;

use super::super::report::Report;
use super::source::source;
use crate::files;
use crate::judging::judge::Judgement;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'a str,
    version: &'a str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: serde_json::Value,
    invocations: [Invocation<'a>; 1],
    results: Vec<Outcome<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'a> {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification<'a>>,
}

#[derive(Serialize)]
struct Notification<'a> {
    level: &'a str,
    message: Message,
    locations: Vec<Location<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'a str,
    message: Message,
    locations: [Location<'a>; 1],
    partial_fingerprints: BTreeMap<&'a str, String>,
    properties: Properties<'a>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    fully_qualified_name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties<'a> {
    run: &'a str,
    rank: u32,
    step: i64,
    last_step: i64,
    is_first_cause: bool,
    values: &'a Figures,
    thresholds: &'a Figures,
}

pub(in crate::cli::check) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut conditions: Vec<_> = report
        .watchpoints
        .all()
        .iter()
        .map(|w| w.condition)
        .collect();
    conditions.sort_by_key(|condition| condition.id);
    conditions.dedup_by_key(|condition| condition.id);
    let rules: Vec<_> = conditions
        .iter()
        .map(|condition| {
            json!({
                "id": condition.id,
                "shortDescription": { "text": condition.en.says },
                "fullDescription": { "text": condition.en.checks },
                "help": { "text": format!("{}\n\n{}", condition.en.matters, condition.en.advice) },
                "defaultConfiguration": { "level": level(condition.severity) },
            })
        })
        .collect();
    let first = report.first_cause().map(|(_, hit)| hit);
    let mut results: Vec<Outcome<'_>> = report
        .runs
        .iter()
        .flat_map(|run| run.findings.hits.iter().map(move |hit| (run, hit)))
        .map(|(run, hit)| {
            let index = conditions.iter().position(|c| *c == hit.condition);
            let is_first = first.is_some_and(|first| std::ptr::eq(first, hit));
            outcome(run, hit, index.unwrap_or(0), is_first)
        })
        .collect();
    // The first cause on top, the rest in the same order.
    results.sort_by_key(|result| !result.properties.is_first_cause);
    let mut notifications: Vec<_> = report
        .runs
        .iter()
        .flat_map(|run| {
            let damaged = run.damaged.iter().map(|fault| ("error", fault));
            damaged.chain(run.truncated.iter().map(|fault| ("warning", fault)))
        })
        .map(|(level, fault)| Notification {
            level,
            message: Message {
                text: format!("at byte {}: {}", fault.offset, fault.reason),
            },
            locations: vec![Location {
                physical_location: physical(&fault.file, None),
                logical_locations: Vec::new(),
            }],
        })
        .collect();
    let unread = report.runs.iter().flat_map(|run| &run.findings.unread);
    notifications.extend(unread.map(|tensor| Notification {
        level: "note",
        message: Message {
            text: format!(
                "{} is not judged: its elements are of the type {}",
                tensor.tensor, tensor.dtype
            ),
        },
        locations: Vec::new(),
    }));
    notifications.extend(
        report
            .unreadable
            .iter()
            .map(|(folder, reason)| Notification {
                level: "error",
                message: Message {
                    text: format!("the folder cannot be read: {reason}"),
                },
                locations: vec![Location {
                    physical_location: physical(folder, None),
                    logical_locations: Vec::new(),
                }],
            }),
    );
    notifications.extend(report.runs.iter().filter_map(unchecked));
    notifications.extend(report.special.iter().map(|(path, what)| Notification {
        level: "note",
        message: Message {
            text: format!("it is {what} and was not read"),
        },
        locations: vec![Location {
            physical_location: physical(path, None),
            logical_locations: Vec::new(),
        }],
    }));
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: json!({ "driver": {
                "name": "trainscope",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }}),
            invocations: [Invocation {
                execution_successful: report.status() < 2,
                tool_execution_notifications: notifications,
            }],
            results,
        }],
    };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// Notification about a run that was not checked, or only in part.
fn unchecked(run: &Judgement) -> Option<Notification<'_>> {
    let level = match run.findings.verdict() {
        Verdict::Nothing => "warning",
        Verdict::InPart => "note",
        Verdict::NoProblem | Verdict::Problem => return None,
    };
    Some(Notification {
        level,
        message: Message {
            text: run.findings.summary().en,
        },
        locations: vec![Location {
            physical_location: physical(&run.title, None),
            logical_locations: Vec::new(),
        }],
    })
}

fn outcome<'a>(run: &'a Judgement, hit: &'a Hit, rule_index: usize, is_first: bool) -> Outcome<'a> {
    // Without the step: the same fault a step later is the same result.
    let fingerprint = format!(
        "{}:{}:{}:{}",
        run.name, hit.rank, hit.condition.id, hit.tensor
    );
    Outcome {
        rule_id: hit.condition.id,
        rule_index,
        level: level(hit.severity),
        message: Message {
            text: hit.sentence.en.clone(),
        },
        locations: [Location {
            physical_location: match source(run, hit) {
                Some((file, line)) => physical(&file, Some(line)),
                None => physical(&run.title, None),
            },
            logical_locations: vec![LogicalLocation {
                fully_qualified_name: &hit.tensor,
            }],
        }],
        partial_fingerprints: BTreeMap::from([("runRankConditionTensor/v1", fingerprint)]),
        properties: Properties {
            run: &run.name,
            rank: hit.rank,
            step: hit.step,
            last_step: hit.last_step,
            is_first_cause: is_first,
            values: &hit.values,
            thresholds: &hit.thresholds,
        },
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a relative URI; an address of a store is one with its scheme.
fn physical(path: &str, line: Option<u64>) -> PhysicalLocation {
    let is_address = files::is_address(Path::new(path));
    let scheme_len = path
        .find("://")
        .filter(|_| is_address)
        .map_or(0, |at| at + 3);
    let (scheme, rest) = path.split_at(scheme_len);
    let mut uri = scheme.to_owned();
    for byte in rest.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'=' => {
                uri.push(char::from(byte));
            }
            _ => {
                let hex = |digit: u8| char::from_digit(digit.into(), 16).unwrap_or('0');
                uri.push('%');
                uri.extend(
                    [hex(byte >> 4), hex(byte & 15)].map(|digit| digit.to_ascii_uppercase()),
                );
            }
        }
    }
    PhysicalLocation {
        artifact_location: ArtifactLocation { uri },
        // Lines are counted from 1; a graph without line numbers has 0.
        region: line
            .filter(|line| *line > 0)
            .map(|start_line| Region { start_line }),
    }
}
