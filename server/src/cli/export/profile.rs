//! Exports of profiles: steps and parts, operators, memory, ranks, advice, stacks, and the timeline itself.

use std::sync::Arc;

use serde::Serialize;
use trainscope_analysis::trace::flame::Stacks;
use trainscope_analysis::trace::memory::{self as memories, MemoryAsk, memory};
use trainscope_analysis::trace::operators::Operators;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::{export_json, ranks};
use trainscope_api::profile::{
    Advice, MemoryAnswer, OperatorGroup, ProfileOverview, ProfileStep, SessionSummary,
};
use trainscope_format::csv::number;
use trainscope_format::digits;

use super::table::Table;
use super::{ExportFlags, ExportFormat, ExportKind, timeline, write_out};
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;
use crate::cli::{CommandError, words};
use crate::profiles::{LoadedProfile, Profiles};
use crate::queries::profile::judged;

/// Session of `--session`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum SessionChoice {
    Newest,
    All,
    Named(String),
}

impl SessionChoice {
    /// Parses the value of `--session`.
    #[expect(clippy::unnecessary_wraps, reason = "the signature of clap's parsers")]
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "newest" => Self::Newest,
            "all" => Self::All,
            id => Self::Named(id.to_owned()),
        })
    }

    /// The profiles of all ranks of the session, or of `rank`: at least one.
    pub(in crate::cli) fn loaded(
        &self,
        rank: Option<u32>,
        reading: &Reading,
    ) -> Result<Vec<Arc<LoadedProfile>>, Mistake> {
        let title = words::name(&reading.title, None);
        let profiles = Profiles::new(&reading.index);
        let run = &reading.run;
        let loaded = match self {
            Self::Newest => profiles.ranks(run, None),
            Self::All => profiles.all(run),
            Self::Named(id) => profiles.ranks(run, Some(id)),
        };
        let mut loaded = loaded.map_err(|error| {
            Mistake::new(2, error.to_string())
                .at(&*title)
                .attempt("a folder with the trace of a profiler, or another --session")
        })?;
        let there: Vec<String> = loaded
            .iter()
            .map(|profile| profile.rank().to_string())
            .collect();
        loaded.retain(|profile| rank.is_none_or(|rank| rank == profile.rank()));
        if loaded.is_empty() {
            return Err(
                Mistake::new(2, format!("{title} has no profile of that rank"))
                    .at(format!("--rank {}", rank.unwrap_or(0)))
                    .attempt(format!("one of these ranks: {}", there.join(", "))),
            );
        }
        Ok(loaded)
    }
}

/// Parses a time since the start of the session, as `0.45s`, `12ms`, `800us`, `5000ns`; nanoseconds.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    const UNITS: [(&str, f64); 5] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    let wrong = || format!("`{text}` is not a time: write 0.45s, 12ms, 800us or 5000ns");
    let (number, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
        .ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let nanos = (number * factor).round();
    if !nanos.is_finite() || nanos.abs() > 9e15 {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
    Ok(nanos as i64)
}

/// Writes the profiles of a run as stacks, as a timeline, or with everything that their page says.
pub(super) fn write(flags: &ExportFlags, reading: &Reading) -> Result<(), CommandError> {
    let loaded = chosen(flags, reading)?;
    match flags.kind {
        ExportKind::Stacks => write_out(flags, |out| {
            for profile in &loaded {
                let stacks =
                    Stacks::new(&profile.model, profile.levels(), area(flags, profile), None);
                let mut text = String::new();
                if stacks.fold(&mut text).is_ok() {
                    out.write_all(text.as_bytes())?;
                }
            }
            Ok(())
        }),
        ExportKind::Timeline => {
            let [profile] = &loaded[..] else {
                return Err(Mistake::new(2, "a timeline is of one session and one rank")
                    .at("--kind timeline")
                    .attempt("--session newest --rank 0")
                    .into());
            };
            if flags.format != ExportFormat::Json {
                let picture =
                    timeline::picture(flags, &reading.title, profile, area(flags, profile))?;
                return write_out(flags, |out| Ok(out.write_all(&picture)?));
            }
            write_out(flags, |out| {
                let area = area(flags, profile);
                Ok(export_json::write(
                    &profile.model,
                    profile.levels(),
                    area,
                    &mut { out },
                )?)
            })
        }
        // As JSON, everything.
        _ => {
            let range = step_range(flags);
            // A baseline needs every operator.
            let whole = |profile: &Arc<LoadedProfile>| SessionSummary {
                operators: Operators::new(&profile.model)
                    .table(OperatorGroup::Name, range)
                    .rows,
                ..summary(reading, profile, &loaded, range)
            };
            let overview = ProfileOverview {
                sessions: loaded.iter().map(whole).collect(),
            };
            write_out(flags, |out| {
                serde_json::to_writer_pretty(&mut *out, &overview).map_err(std::io::Error::from)?;
                Ok(writeln!(out)?)
            })
        }
    }
}

/// Writes the rows of a run's profiles.
pub(super) fn rows(
    flags: &ExportFlags,
    reading: &Reading,
    loaded: &[Arc<LoadedProfile>],
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    let range = step_range(flags);
    let all = loaded.iter();
    let all = all.map(|profile| summary(reading, profile, loaded, range));
    match flags.kind {
        ExportKind::Operators => write_operators(flags, loaded, range, table),
        ExportKind::Memory => write_memory(loaded, table),
        ExportKind::Ranks => write_ranks(loaded, table),
        ExportKind::Advice => write_advice(all, table),
        _ => write_steps(all, flags.kind == ExportKind::Steps, table),
    }
}

const fn step_range(flags: &ExportFlags) -> StepRange {
    StepRange {
        since: flags.since_step,
        until: flags.until_step,
    }
}

/// The profiles that the flags choose.
pub(super) fn chosen(
    flags: &ExportFlags,
    reading: &Reading,
) -> Result<Vec<Arc<LoadedProfile>>, Mistake> {
    let mut loaded = flags.session.loaded(flags.rank, reading)?;
    if flags.kind == ExportKind::Timeline && flags.rank.is_none() {
        loaded.truncate(1);
    }
    Ok(loaded)
}

/// The summary of one profile; `all` are the chosen profiles.
fn summary(
    reading: &Reading,
    profile: &LoadedProfile,
    all: &[Arc<LoadedProfile>],
    range: StepRange,
) -> SessionSummary {
    let same = all
        .iter()
        .filter(|other| other.session() == profile.session());
    let ranks: Vec<Arc<LoadedProfile>> = same.cloned().collect();
    judged(&reading.index, profile, &ranks, range, usize::MAX)
}

/// The area of `--from` and `--until`, since the start of the session.
fn area(flags: &ExportFlags, profile: &LoadedProfile) -> (i64, i64) {
    let extent = &profile.model.extent;
    // The end of an area is exclusive: a slice without a length at the end needs one nanosecond more.
    let end = extent.end.saturating_sub(extent.start).saturating_add(1);
    (flags.from.unwrap_or(0), flags.until.unwrap_or(end))
}

/// A step with its session.
#[derive(Serialize)]
struct StepRow<'a> {
    session: &'a str,
    rank: u32,
    #[serde(flatten)]
    step: &'a ProfileStep,
}

fn write_steps(
    all: impl Iterator<Item = SessionSummary>,
    with_phases: bool,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    if with_phases {
        table.head(&[
            "session",
            "rank",
            "step",
            "phase",
            "begin_nanos",
            "end_nanos",
        ])?;
    } else {
        table.head(&[
            "session",
            "rank",
            "step",
            "begin_nanos",
            "length_nanos",
            "kernel_nanos",
            "memcpy_nanos",
            "memset_nanos",
            "communication_nanos",
            "runtime_nanos",
            "data_nanos",
            "operators_nanos",
            "other_nanos",
            "is_whole",
        ])?;
    }
    for summary in all {
        for step in &summary.steps {
            table.object(&StepRow {
                session: &summary.session,
                rank: summary.rank,
                step,
            })?;
            let first = [
                summary.session.clone(),
                summary.rank.to_string(),
                step.number.to_string(),
            ];
            if with_phases {
                for phase in &step.phases {
                    let kind = crate::watchpoints::name_of(&phase.kind);
                    let times = [phase.begin_nanos, phase.end_nanos].map(|time| time.to_string());
                    table.cells(&[&first[..], &[kind], &times].concat())?;
                }
                continue;
            }
            let parts = step.parts_nanos;
            let numbers = [
                step.begin_nanos,
                step.end_nanos - step.begin_nanos,
                parts.kernel,
                parts.memcpy,
                parts.memset,
                parts.communication,
                parts.runtime,
                parts.data,
                parts.operators,
                parts.other,
            ];
            let numbers = numbers.map(|number| number.to_string());
            let whole = [step.is_whole.to_string()];
            table.cells(&[&first[..], &numbers, &whole].concat())?;
        }
    }
    Ok(())
}

fn write_operators(
    flags: &ExportFlags,
    loaded: &[Arc<LoadedProfile>],
    range: StepRange,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    let is_by_shape = OperatorGroup::from(flags.by) == OperatorGroup::Shape;
    let mut head = vec![
        "name",
        "type",
        "calls",
        "self_nanos",
        "total_nanos",
        "mean_nanos",
        "p99_nanos",
        "device_self_nanos",
        "device_total_nanos",
        "flops",
        "bytes",
        "roofline",
    ];
    head.extend(is_by_shape.then_some("shapes"));
    table.head(&head)?;
    for profile in loaded {
        for row in Operators::new(&profile.model)
            .table(flags.by.into(), range)
            .rows
        {
            table.object(&row)?;
            let times = [
                row.self_nanos,
                row.total_nanos,
                row.mean_nanos,
                row.p99_nanos,
                row.device_self_nanos,
                row.device_total_nanos,
            ];
            let mut cells = vec![row.name, row.r#type, row.calls.to_string()];
            cells.extend(times.map(|time| time.to_string()));
            cells.extend([row.flops, row.bytes].map(|count| count.to_string()));
            cells.push(
                row.roofline
                    .map_or_else(String::new, |bound| bound.to_string()),
            );
            cells.extend(is_by_shape.then_some(row.shapes));
            table.cells(&cells)?;
        }
    }
    Ok(())
}

fn write_memory(loaded: &[Arc<LoadedProfile>], table: &mut Table<'_>) -> Result<(), CommandError> {
    table.head(&[
        "session",
        "rank",
        "device",
        "time_nanos",
        "allocated_bytes",
        "reserved_bytes",
    ])?;
    for profile in loaded {
        for device in memory(&profile.model, &MemoryAsk::default()).devices {
            let ask = MemoryAsk {
                device: Some(device.device),
                ..MemoryAsk::default()
            };
            write_series(profile, &memory(&profile.model, &ask), table)?;
        }
        if let Some(timeline) = &profile.memory_timeline {
            let answer = memories::timeline::without_events(&profile.model, timeline);
            write_series(profile, &answer, table)?;
        }
    }
    Ok(())
}

fn write_series(
    profile: &LoadedProfile,
    answer: &MemoryAnswer,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    table.object(answer)?;
    for (at, (time, allocated)) in answer.times_nanos.iter().zip(&answer.allocated).enumerate() {
        // Files of memory over time have no reserved bytes.
        let reserved = answer.reserved.get(at);
        table.cells(&[
            profile.session().to_owned(),
            profile.rank().to_string(),
            answer.device.clone(),
            time.to_string(),
            allocated.to_string(),
            reserved.map_or_else(String::new, u64::to_string),
        ])?;
    }
    Ok(())
}

fn write_ranks(loaded: &[Arc<LoadedProfile>], table: &mut Table<'_>) -> Result<(), CommandError> {
    table.head(&[
        "rank",
        "compute_nanos",
        "wait_nanos",
        "slow_steps",
        "slow_from_step",
        "offset_nanos",
    ])?;
    let models: Vec<_> = loaded.iter().map(|profile| profile.rank_model()).collect();
    for row in ranks::ranks_of(&models).ranks {
        table.object(&row)?;
        table.cells(&[
            row.rank.to_string(),
            row.compute_nanos.to_string(),
            row.wait_nanos.to_string(),
            row.slow_steps.to_string(),
            row.slow_from_step
                .map_or_else(String::new, |step| step.to_string()),
            row.offset_nanos.to_string(),
        ])?;
    }
    Ok(())
}

/// Advice with its session.
#[derive(Serialize)]
struct AdviceRow<'a> {
    session: &'a str,
    rank: u32,
    #[serde(flatten)]
    advice: &'a Advice,
}

fn write_advice(
    all: impl Iterator<Item = SessionSummary>,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    table.head(&[
        "session",
        "rank",
        "id",
        "severity",
        "value",
        "limit",
        "gain_nanos",
        "gain",
        "title",
        "evidence",
        "remedy",
    ])?;
    for summary in all {
        for advice in &summary.advice {
            table.object(&AdviceRow {
                session: &summary.session,
                rank: summary.rank,
                advice,
            })?;
            let gain = u64::try_from(advice.gain_nanos).unwrap_or(0);
            table.cells(&[
                summary.session.clone(),
                summary.rank.to_string(),
                advice.id.clone(),
                crate::watchpoints::name_of(&advice.severity),
                number(advice.value),
                number(advice.limit),
                gain.to_string(),
                digits::nanos(gain),
                advice.title.en.clone(),
                advice.evidence.en.clone(),
                advice.remedy.en.clone(),
            ])?;
        }
    }
    Ok(())
}
