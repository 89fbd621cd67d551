//! The reader against a slow reading of the same events with `serde_json`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use trainscope_format::trace::Trace;

use crate::support::{lane, names, whole};

/// A row of a slice: name, category, lane, begin, duration, correlation, sizes of inputs.
type Row = (String, String, String, i64, u64, Option<u64>, Value);

/// An end of a flow: time, kind (begin, end around, end before the next), lane, the slice if it is known.
type End = (i64, u8, String, Option<usize>);

/// Ends by category and identifier.
type Ends = BTreeMap<(String, String), Vec<End>>;

/// All compared results.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    events: u64,
    by_phase: BTreeMap<String, u64>,
    slices: Vec<Row>,
    unfinished: Vec<u32>,
    ends_without_begin: u64,
    negative_durations: u64,
    marks: Vec<(i64, String, bool)>,
    memory: Vec<(i64, i64)>,
    /// `process|name`, time, value.
    counters: Vec<(String, i64, f64)>,
    flows: Vec<(u32, u32)>,
    flows_without_end: u64,
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Times are below 2⁵³ nanoseconds here, so an `f64` has all of their digits.
fn nanos(value: &Value) -> i64 {
    let micros: f64 = match value {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap_or(0.0),
    };
    #[expect(clippy::cast_possible_truncation, reason = "times are below 2^53")]
    let nanos = (micros * 1e3).round() as i64;
    nanos
}

fn slowly(events: &[Value]) -> Reading {
    let mut reading = Reading::default();
    let mut open: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut open_async: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut ends = Ends::new();
    for event in events {
        reading.events += 1;
        let phase = text(&event["ph"]);
        *reading.by_phase.entry(phase.clone()).or_default() += 1;
        let lane = format!("{}/{}", text(&event["pid"]), text(&event["tid"]));
        let name = text(&event["name"]);
        let category = text(&event["cat"]);
        let time = nanos(&event["ts"]);
        let identifier = format!("{category}|{}", text(&event["id"]));
        let row = |duration: i64, lane: &str| -> Row {
            // Operators have shapes, all others a correlation.
            let arguments = &event["args"];
            let is_operator = category == "cpu_op";
            let link = arguments["correlation"].as_u64().filter(|_| !is_operator);
            let dims = if is_operator {
                arguments["Input Dims"].clone()
            } else {
                Value::Null
            };
            let duration = u64::try_from(duration).unwrap_or(0);
            (
                name.clone(),
                category.clone(),
                lane.to_owned(),
                time,
                duration,
                link,
                dims,
            )
        };
        match phase.as_str() {
            "X" => {
                let duration = nanos(&event["dur"]);
                reading.negative_durations += u64::from(duration < 0);
                reading.slices.push(row(duration, &lane));
            }
            "B" => {
                open.entry(lane.clone())
                    .or_default()
                    .push(reading.slices.len());
                reading.slices.push(row(0, &lane));
            }
            "b" => {
                let lane = format!("{}/{category}", text(&event["pid"]));
                open_async
                    .entry(identifier)
                    .or_default()
                    .push(reading.slices.len());
                reading.slices.push(row(0, &lane));
            }
            "E" | "e" => {
                let stack = if phase == "E" {
                    open.get_mut(&lane)
                } else {
                    open_async.get_mut(&identifier)
                };
                match stack.and_then(Vec::pop) {
                    Some(slice) => {
                        let duration = time - reading.slices[slice].3;
                        reading.negative_durations += u64::from(duration < 0);
                        reading.slices[slice].4 = u64::try_from(duration).unwrap_or(0);
                    }
                    None => reading.ends_without_begin += 1,
                }
            }
            "i" if name == "[memory]" => {
                let bytes = event["args"]["Bytes"].as_i64().unwrap();
                reading.memory.push((time, bytes));
            }
            "i" => reading.marks.push((time, name, event["s"] == "g")),
            "C" => {
                for (key, value) in event["args"].as_object().unwrap() {
                    let series = if key == "value" {
                        name.clone()
                    } else {
                        format!("{name} {key}")
                    };
                    let series = format!("{}|{series}", text(&event["pid"]));
                    reading
                        .counters
                        .push((series, time, value.as_f64().unwrap()));
                }
            }
            "s" | "f" => {
                let before = reading.slices.len().checked_sub(1);
                let before = before.filter(|slice| {
                    let slice = &reading.slices[*slice];
                    slice.2 == lane && slice.3 == time
                });
                let kind = match phase.as_str() {
                    "s" => 0,
                    _ if event["bp"] == "e" => 1,
                    _ => 2,
                };
                let key = (category, text(&event["id"]));
                ends.entry(key)
                    .or_default()
                    .push((time, kind, lane, before));
            }
            _ => {}
        }
    }
    finish(&mut reading, open, open_async);
    pair(&mut reading, &ends);
    reading
}

/// Slices without an end last until the end of the trace.
fn finish(
    reading: &mut Reading,
    open: BTreeMap<String, Vec<usize>>,
    open_async: BTreeMap<String, Vec<usize>>,
) {
    let ends = reading
        .slices
        .iter()
        .map(|slice| slice.3 + i64::try_from(slice.4).unwrap());
    let end = ends
        .chain(reading.memory.iter().map(|(time, _)| *time))
        .max();
    let mut unfinished: Vec<usize> = open
        .into_values()
        .chain(open_async.into_values())
        .flatten()
        .collect();
    unfinished.sort_unstable();
    for slice in unfinished {
        let slice_end = end.unwrap() - reading.slices[slice].3;
        reading.slices[slice].4 = u64::try_from(slice_end).unwrap();
        reading.unfinished.push(u32::try_from(slice).unwrap());
    }
}

/// Pairs the ends of flows, here at most one begin and one end each.
fn pair(reading: &mut Reading, ends: &Ends) {
    let bind = |(time, kind, lane, before): &End| {
        let order = |slice: &usize| {
            let row = &reading.slices[*slice];
            (row.3, std::cmp::Reverse(row.4), *slice)
        };
        let on_lane =
            || (0..reading.slices.len()).filter(|slice| reading.slices[*slice].2 == *lane);
        before.or_else(|| {
            if *kind == 2 {
                on_lane()
                    .filter(|slice| reading.slices[*slice].3 >= *time)
                    .min_by_key(order)
            } else {
                let holds = |slice: &usize| {
                    let row = &reading.slices[*slice];
                    row.3 <= *time && *time <= row.3 + i64::try_from(row.4).unwrap()
                };
                on_lane().filter(holds).max_by_key(order)
            }
        })
    };
    let mut flows = Vec::new();
    let mut without_end = 0;
    for group in ends.values() {
        let begin = group.iter().find(|end| end.1 == 0);
        let end = group.iter().find(|end| end.1 > 0);
        let Some(begin) = begin else { continue };
        let to = end.and_then(bind);
        match (bind(begin), to) {
            (Some(from), Some(to)) => {
                flows.push((u32::try_from(from).unwrap(), u32::try_from(to).unwrap()));
            }
            (_, None) => without_end += 1,
            (None, Some(_)) => {}
        }
    }
    flows.sort_unstable();
    reading.flows = flows;
    reading.flows_without_end = without_end;
}

fn of_trace(trace: &Trace) -> Reading {
    let slices = &trace.slices;
    let rows = names(trace).into_iter().enumerate().map(|(slice, name)| {
        let category = &trace.categories[usize::from(slices.categories[slice])];
        let shapes = trace.shapes.get(slices.details[slice] as usize);
        let dims = shapes.filter(|_| category.name == "cpu_op");
        let dims = dims.map_or(Value::Null, |shapes| {
            serde_json::from_str(&shapes.dims).unwrap()
        });
        let link = (slices.links[slice] != u32::MAX).then_some(u64::from(slices.links[slice]));
        let times = (slices.begins[slice], slices.durations[slice]);
        (
            name.to_owned(),
            category.name.clone(),
            lane(trace, slice),
            times.0,
            times.1,
            link,
            dims,
        )
    });
    let mut flows: Vec<_> = trace
        .flows
        .iter()
        .map(|flow| (flow.from, flow.to))
        .collect();
    flows.sort_unstable();
    let counters = trace.counters.iter().flat_map(|series| {
        let key = format!("{}|{}", series.process, series.name);
        let points = series.times.iter().zip(&series.values);
        points.map(move |(time, value)| (key.clone(), *time, *value))
    });
    let marks = trace.marks.iter();
    Reading {
        events: trace.counts.events,
        by_phase: trace.counts.by_phase.clone(),
        slices: rows.collect(),
        unfinished: trace.counts.unfinished.clone(),
        ends_without_begin: trace.counts.ends_without_begin,
        negative_durations: trace.counts.negative_durations,
        marks: marks
            .map(|mark| {
                (
                    mark.time,
                    trace.texts.get(mark.name).to_owned(),
                    mark.is_global,
                )
            })
            .collect(),
        memory: trace
            .memory
            .iter()
            .map(|event| (event.time, event.bytes))
            .collect(),
        counters: counters.collect(),
        flows,
        flows_without_end: trace.counts.flows_without_end,
    }
}

/// A time as one of the ways to write it.
fn time() -> impl Strategy<Value = Value> {
    (0_i64..60_000, 0..3_u8).prop_map(|(nanos, way)| {
        let text = format!("{}.{:03}", nanos / 1_000, nanos % 1_000);
        match way {
            0 => json!(text),
            1 => json!(nanos / 1_000),
            _ => json!(text.parse::<f64>().unwrap()),
        }
    })
}

fn lane_of() -> impl Strategy<Value = (Value, Value)> {
    (
        prop_oneof![Just(json!(1)), Just(json!("1")), Just(json!("ü \"x\""))],
        prop_oneof![Just(json!(7)), Just(json!("8"))],
    )
}

fn event() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("aten::mm".to_owned()),
        Just("C:\\a\\\"b\"\n".to_owned()),
        "\\PC{0,12}",
    ];
    let category = prop_oneof![
        Just("cpu_op"),
        Just("cuda_runtime"),
        Just("kernel"),
        Just("x {[\""),
    ];
    // Texts with braces, and with apparent other arguments.
    let note = prop_oneof![
        Just("}]\\\"{[,"),
        Just("\"Input Dims\": [3], \"correlation\": 4"),
        Just("Input Dims"),
        Just("\\"),
        Just(""),
    ];
    let row = (name, category, lane_of(), time(), 0..9_u32, note);
    row.prop_flat_map(|(name, category, (pid, tid), at, id, note)| {
        let base = json!({"name": name, "cat": category, "pid": pid, "tid": tid, "ts": at});
        let with = move |more: Value| {
            let mut event = base.clone();
            for (key, value) in more.as_object().unwrap() {
                event[key] = value.clone();
            }
            event
        };
        let mut arguments = json!({"A": note, "correlation": id, "Input Dims": [[1, id], []], "x": note, "y": [note]});
        if id == 1 {
            arguments["z"] = json!({"a": [{}]});
        }
        prop_oneof![
            4 => time().prop_map({
                let with = with.clone();
                move |duration| with(json!({"ph": "X", "dur": duration, "args": arguments}))
            }),
            3 => prop_oneof![
                Just(with(json!({"ph": "X", "dur": -5}))),
                Just(with(json!({"ph": "B"}))),
                Just(with(json!({"ph": "E"}))),
                Just(with(json!({"ph": "b", "id": id % 3}))),
                Just(with(json!({"ph": "e", "id": id % 3}))),
                Just(with(json!({"ph": "i", "s": "g"}))),
                Just(with(json!({"ph": "i", "name": "[memory]", "args": {"Bytes": -3, "Addr": 5}}))),
                Just(with(json!({"ph": "C", "name": "c", "args": {"value": 0.25}}))),
                Just(with(json!({"ph": "C", "name": "c", "args": {"k": id}}))),
                Just(with(json!({"ph": "s", "id": id}))),
                Just(with(json!({"ph": "f", "id": id, "bp": "e"}))),
                Just(with(json!({"ph": "f", "id": id}))),
            ],
        ]
    })
}

/// An event as Kineto lays it out: a field a line, all arguments on one line.
fn kineto(event: &Value) -> String {
    let first = ["ph", "cat", "name", "pid", "tid", "ts", "dur"];
    let fields = event.as_object().unwrap();
    let known = first.iter().filter_map(|key| fields.get_key_value(*key));
    let others = fields
        .iter()
        .filter(|(key, _)| !first.contains(&key.as_str()));
    let lines = known.chain(others).map(|(key, value)| match value {
        Value::Object(arguments) if key == "args" => {
            let arguments = arguments
                .iter()
                .map(|(key, value)| format!("{}: {value}", json!(key)));
            let arguments: Vec<_> = arguments.collect();
            format!("\n    \"args\": {{\n      {}\n    }}", arguments.join(", "))
        }
        _ => format!("\n    {}: {value}", json!(key)),
    });
    let lines: Vec<_> = lines.collect();
    format!(
        "\n  {{{}\n  }}",
        lines
            .join(",")
            .replacen(",\n    \"args\"", "\n    ,\n    \"args\"", 1)
    )
}

/// Leaves one begin and one end of each flow.
fn without_reuse(events: Vec<Value>) -> Vec<Value> {
    let mut known = std::collections::BTreeSet::new();
    events
        .into_iter()
        .filter(|event| {
            let phase = text(&event["ph"]);
            let key = (phase.clone(), text(&event["cat"]), text(&event["id"]));
            !matches!(phase.as_str(), "s" | "f") || known.insert(key)
        })
        .collect()
}

proptest! {
    #[test]
    fn events_are_those_of_serde_json(
        events in proptest::collection::vec(event(), 0..40).prop_map(without_reuse),
        layout in 0..3_u8,
        is_object in any::<bool>(),
    ) {
        let document = if is_object {
            json!({"a": {"b": ["]"]}, "traceEvents": events, "z": "]}"})
        } else {
            json!(events)
        };
        let bytes = match layout {
            0 => serde_json::to_vec_pretty(&document).unwrap(),
            1 => serde_json::to_vec(&document).unwrap(),
            _ => {
                let events: Vec<_> = events.iter().map(kineto).collect();
                let end = if is_object { "],\n\"z\": 1}" } else { "]" };
                let start = if is_object { "{\"traceEvents\": [" } else { "[" };
                [start, &events.join(","), end].concat().into_bytes()
            }
        };
        let parsed: Value = serde_json::from_slice(&bytes).unwrap();
        let list = if is_object { &parsed["traceEvents"] } else { &parsed };
        let trace = whole(&bytes);
        let mut slow = slowly(list.as_array().unwrap());
        let mut read = of_trace(&trace);
        // Series are in the order of their first point there, points in that of the file here.
        slow.counters.sort_by(|a, b| a.partial_cmp(b).unwrap());
        read.counters.sort_by(|a, b| a.partial_cmp(b).unwrap());
        prop_assert_eq!(read, slow);
        prop_assert_eq!(trace.counts.damaged, 0);
        prop_assert!(!trace.counts.truncated);
    }
}
