//! Executions of operators, one line an operator, and the shapes of their inputs, one line an execution.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::super::decimal::scaled;
use super::super::trace_builder::{TraceBuilder, lines};
use crate::trace::{Lane, NONE, Shapes, Slice, SliceClass, Trace};

/// Digits from milliseconds to nanoseconds.
const MILLIS_TO_NANOS: usize = 6;

/// Executions of one operator: a line of the file.
#[derive(Debug)]
pub(super) struct Runs {
    /// Name with its scopes: `Default/optimizer-Momentum/Mul-op148`.
    pub(super) name: String,
    /// Slices of the trace.
    pub(super) slices: Range<usize>,
}

impl Runs {
    /// Name without scopes: `Mul-op148`.
    pub(super) fn short(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Type of the operator: `Mul`.
    pub(super) fn kind(&self) -> &str {
        let short = self.short();
        match short.rsplit_once("-op") {
            Some((kind, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => kind,
            _ => short,
        }
    }
}

/// Count and time of executions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    pub(super) count: u64,
    pub(super) nanos: u64,
}

/// Totals by type and by name.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) types: BTreeMap<String, Total>,
    pub(super) names: BTreeMap<String, Total>,
}

/// Reads `name;kind;begin,duration,process begin,duration,process …`: nanoseconds, milliseconds. Executions become
/// slices; those of the first process go to `first_lane`, if there is one.
pub(super) fn read(bytes: &[u8], first_lane: Option<u16>, builder: &mut TraceBuilder) -> Vec<Runs> {
    let mut all = Vec::new();
    let mut lanes: HashMap<Vec<u8>, Option<u16>> = HashMap::new();
    let category = builder.category("operator", SliceClass::Operator);
    builder.trace.counts.bytes += bytes.len() as u64;
    for (offset, line, is_whole) in lines(bytes) {
        builder.trace.counts.truncated |= !is_whole;
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        let Some((name, kind, runs)) = parts(line) else {
            if is_whole && !is_blank {
                builder.trace.counts.damage(offset, line.len());
            }
            continue;
        };
        let mut at = offset + line.len() - runs.len();
        let from = builder.trace.slices.len();
        let name = String::from_utf8_lossy(name).into_owned();
        let id = builder.name(&name);
        let mut pieces = runs.split(|byte| *byte == b' ').peekable();
        while let Some(run) = pieces.next() {
            let place = at;
            at += run.len() + 1;
            // An incomplete line may lack digits at its end.
            let is_cut = !is_whole && pieces.peek().is_none();
            if run.is_empty() || is_cut {
                continue;
            }
            let counts = &mut builder.trace.counts;
            counts.events += 1;
            let Some((begin, duration, process)) = execution(run) else {
                counts.damage(place, run.len());
                continue;
            };
            let duration = u64::try_from(duration).unwrap_or_else(|_| {
                counts.negative_durations += 1;
                0
            });
            let is_first = lanes.is_empty();
            let lane = *lanes.entry(process.to_vec()).or_insert_with(|| {
                let given = first_lane.filter(|_| is_first);
                given.or_else(|| builder.lane(host_lane(process, kind)))
            });
            match (lane, id) {
                (Some(lane), Some(name)) => builder.push(&Slice {
                    begin,
                    duration,
                    name,
                    lane,
                    category,
                    link: NONE,
                    detail: NONE,
                    place: place as u64,
                }),
                _ => builder.trace.counts.over_limit += 1,
            }
        }
        all.push(Runs {
            name,
            slices: from..builder.trace.slices.len(),
        });
    }
    all
}

/// Name, kind and executions of a line; names may have semicolons.
fn parts(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let last = memchr::memrchr(b';', line)?;
    let kind = memchr::memrchr(b';', &line[..last])?;
    Some((&line[..kind], &line[kind + 1..last], &line[last + 1..]))
}

fn execution(run: &[u8]) -> Option<(i64, i64, &[u8])> {
    let mut parts = run.splitn(3, |byte| *byte == b',');
    let begin = scaled(parts.next()?, 0)?;
    let duration = scaled(parts.next()?, MILLIS_TO_NANOS)?;
    Some((begin, duration, parts.next()?))
}

fn host_lane(process: &[u8], kind: &[u8]) -> Lane {
    Lane {
        process: super::timeline::CPU_PROCESS.to_owned(),
        thread: String::from_utf8_lossy(process).into_owned(),
        process_name: super::timeline::CPU_PROCESS.to_owned(),
        thread_name: String::from_utf8_lossy(kind).into_owned(),
        ..Lane::default()
    }
}

/// Gives executions the shapes of `type;name-opN;number;input_1:[8, 1, 16, 16];…`. Lines come in the order of the
/// executions; names are without scopes, so several operators may have one. Shapes are only taken if a name has as
/// many lines as executions, or the same shapes in all of its lines.
pub(super) fn shapes(bytes: &[u8], runs: &[Runs], trace: &mut Trace, notes: &mut Vec<String>) {
    let mut executions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for operator in runs {
        executions
            .entry(operator.short())
            .or_default()
            .extend(operator.slices.clone());
    }
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut wanted: HashMap<&[u8], Vec<u32>> = HashMap::new();
    let (mut bad, mut first_bad) = (0_u64, 0);
    for (offset, line, is_whole) in lines(bytes) {
        let mut parts = line.split(|byte| *byte == b';');
        let _kind = parts.next();
        let (name, number) = (parts.next(), parts.next());
        let (Some(name), Some(_), true) = (name, number, is_whole) else {
            let is_blank = line.iter().all(u8::is_ascii_whitespace);
            if !is_blank && is_whole {
                first_bad = if bad == 0 { offset } else { first_bad };
                bad += 1;
            }
            continue;
        };
        let inputs = parts.filter(|part| !part.is_empty()).map(shape);
        let dims = format!("[{}]", inputs.collect::<Vec<_>>().join(", "));
        let next = u32::try_from(trace.shapes.len()).unwrap_or(NONE);
        let id = *numbers.entry(dims).or_insert_with_key(|dims| {
            trace.shapes.push(Shapes {
                dims: dims.clone(),
                ..Shapes::default()
            });
            next
        });
        wanted.entry(name).or_default().push(id);
    }
    let mut unmatched = 0;
    for (name, mut slices) in executions {
        let ids = wanted.get(name.as_bytes()).map_or(&[][..], Vec::as_slice);
        let Some(first) = ids.first() else {
            unmatched += slices.len();
            continue;
        };
        let is_same = ids.iter().all(|id| id == first);
        if ids.len() != slices.len() && !is_same {
            unmatched += slices.len();
            continue;
        }
        slices.sort_by_key(|slice| trace.slices.begins.get(*slice));
        let ids = ids.iter().chain(std::iter::repeat(first));
        for (slice, id) in slices.into_iter().zip(ids) {
            if let Some(detail) = trace.slices.details.get_mut(slice) {
                *detail = *id;
            }
        }
    }
    if unmatched > 0 {
        notes.push(format!(
            "cpu_framework: {unmatched} executions have no shapes in it"
        ));
    }
    if bad > 0 {
        notes.push(format!(
            "cpu_framework: {bad} lines could not be read, the first at byte {first_bad}"
        ));
    }
}

/// `[8, 4]` of `input_1:[8, 4]`; `[]` for anything else, such as `NoShape`.
fn shape(input: &[u8]) -> String {
    let colon = memchr::memchr(b':', input).map_or(0, |colon| colon + 1);
    let text = String::from_utf8_lossy(&input[colon..]);
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let sizes = inner.map(|inner| {
        let sizes = inner.split(',').map(|size| size.trim().parse::<i64>());
        sizes.collect::<Result<Vec<_>, _>>()
    });
    match sizes {
        Some(Ok(sizes)) => format!("{sizes:?}"),
        _ => "[]".to_owned(),
    }
}

pub(super) fn totals(runs: &[Runs], trace: &Trace) -> Totals {
    let mut totals = Totals::default();
    for operator in runs {
        let durations = trace.slices.durations.get(operator.slices.clone());
        let durations = durations.unwrap_or_default();
        let nanos = durations
            .iter()
            .fold(0_u64, |sum, one| sum.saturating_add(*one));
        let add = |total: &mut Total| {
            total.count += durations.len() as u64;
            total.nanos = total.nanos.saturating_add(nanos);
        };
        add(totals.types.entry(operator.kind().to_owned()).or_default());
        add(totals.names.entry(operator.name.clone()).or_default());
    }
    totals
}
