//! Steps, their parts, and the collectives in them.

use serde::Deserialize;

use super::super::table::Table;
use super::super::{MindsporeFiles, MindsporeTable};
use super::hccl::Costs;
use super::{Execution, HCCL, Npu};
use crate::trace::{DeclaredStep, Lane, Mark, NONE, Slice, SliceClass};

/// Digits from ticks of 10 ns to nanoseconds.
const TICKS_TO_NANOS: usize = 1;
/// Number of the row with the means of all steps.
const MEAN: &[u8] = b"-";

/// The first operator of forward and the last one of backward.
#[derive(Deserialize)]
struct Points {
    #[serde(default)]
    fp_start: String,
    #[serde(default)]
    bp_end: String,
}

/// Columns of an interval in which a stream communicates.
struct Stretch {
    /// Name of the column: `stream_37_0_Receive-op663`.
    column: String,
    stream: String,
    /// Full name of the operator, or the name of the column for several operators without a name.
    operator: String,
    start: Option<usize>,
    end: Option<usize>,
}

impl Stretch {
    fn new(column: &str, table: &Table<'_>, npu: &Npu<'_>) -> Self {
        let place = |end: &str| table.column(&[&format!("{column}_{end}_point")]);
        let parts = column.strip_prefix("stream_").and_then(|rest| {
            let (stream, rest) = rest.split_once('_')?;
            Some((stream, rest.split_once('_')?))
        });
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let operator = match parts {
            Some((_, (number, operator))) if is_number(number) => operator,
            _ => column,
        };
        Self {
            operator: npu.facts.full_name(operator),
            stream: parts.map(|parts| parts.0.to_owned()).unwrap_or_default(),
            start: place("start"),
            end: place("end"),
            column: column.to_owned(),
        }
    }
}

/// Reads `step_trace_raw`: a row per step, followed by a row of means.
pub(super) fn read(
    files: &MindsporeFiles<'_>,
    costs: &Costs,
    npu: &mut Npu<'_>,
    notes: &mut Vec<String>,
) {
    let Some(bytes) = files.step_trace else {
        return;
    };
    let file = MindsporeTable::StepTrace.file_name(files.rank);
    let mut table = Table::new(&file, bytes);
    let number = table.column(&["step_num"]);
    let [start, end] = ["start_point", "end_point"].map(|name| table.column(&[name]));
    let [forward, backward] = ["fp_point", "bp_point"].map(|name| table.column(&[name]));
    if number.is_none() || start.is_none() || end.is_none() {
        return table.lacks("step_num, start_point, end_point", notes);
    }
    let stretches = table.fields().filter_map(|(_, field)| {
        let column = field.strip_suffix("_start_point")?;
        Some(Stretch::new(column, &table, npu))
    });
    let mut stretches: Vec<Stretch> = stretches.collect();
    let mut points = files.step_points;
    stretches.retain(|stretch| !npu.collective_streams.contains(&stretch.stream));
    while let Some(row) = table.next_row() {
        let ticks = |column| row.scaled(column, TICKS_TO_NANOS);
        let step = row.scaled(number, 0).zip(ticks(start).zip(ticks(end)));
        let (number, begin, end) = match step {
            _ if row.bytes(number) == Some(MEAN) => continue,
            // Old versions number the means 0, and leave out times.
            Some((0, (0, 0))) => continue,
            Some((number, (begin, end))) if begin <= end => (number, begin, end),
            _ => {
                table.bad(&row);
                continue;
            }
        };
        npu.builder
            .trace
            .declared_steps
            .push(DeclaredStep { number, begin, end });
        let at_forward = ticks(forward).unwrap_or(begin).clamp(begin, end);
        let at_backward = ticks(backward).unwrap_or(end).clamp(at_forward, end);
        npu.parts(row.offset, [begin, at_forward, at_backward, end]);
        if let Some(points) = points.take() {
            mark(points, [at_forward, at_backward], npu, notes);
        }
        for stretch in &stretches {
            // A step may lack some of them.
            let (Some(begin), Some(end)) = (ticks(stretch.start), ticks(stretch.end)) else {
                continue;
            };
            if begin == 0 && end == 0 {
                continue;
            }
            npu.push(&Execution {
                name: &stretch.operator,
                unit: HCCL,
                stream: &stretch.stream,
                begin,
                duration: end.saturating_sub(begin),
                bytes: costs.bytes(number, &stretch.column),
                place: row.offset,
            });
        }
    }
    table.finish(&mut npu.builder.trace.counts, notes);
}

/// Marks the first operator of forward and the last one of backward, at their times in the first step.
fn mark(points: &[u8], at: [i64; 2], npu: &mut Npu<'_>, notes: &mut Vec<String>) {
    let points = match serde_json::from_slice::<Points>(points) {
        Ok(points) => points,
        Err(error) => {
            notes.push(format!("step_trace_point_info: {error}"));
            return;
        }
    };
    let names = [("fp_start", points.fp_start), ("bp_end", points.bp_end)];
    for ((point, operator), time) in names.into_iter().zip(at) {
        let name = npu.builder.name(&format!("{point}: {operator}"));
        let (Some(lane), Some(name), false) = (npu.step_lane(), name, operator.is_empty()) else {
            continue;
        };
        npu.builder.trace.marks.push(Mark {
            time,
            name,
            lane,
            is_global: false,
        });
    }
}

impl Npu<'_> {
    fn step_lane(&mut self) -> Option<u16> {
        self.builder.lane(Lane {
            process: "steps".to_owned(),
            thread: "step trace".to_owned(),
            process_name: "Step trace".to_owned(),
            thread_name: "Step trace".to_owned(),
            ..Lane::default()
        })
    }

    /// Adds the parts of a step: the interval before it, forward and backward, and the tail. The interval is waiting
    /// for data. The others only locate the step, unless there are no other times of device work.
    fn parts(&mut self, place: usize, [begin, forward, backward, end]: [i64; 4]) {
        let work = if self.is_timed {
            SliceClass::DeviceAnnotation
        } else {
            SliceClass::Annotation
        };
        let parts = [
            ("iteration_interval", begin, forward, SliceClass::Annotation),
            ("fp_and_bp", forward, backward, work),
            ("tail", backward, end, work),
        ];
        for (name, begin, end, class) in parts {
            let category = self.builder.category("step trace", class);
            let (Some(lane), Some(name)) = (self.step_lane(), self.builder.name(name)) else {
                self.builder.trace.counts.over_limit += 1;
                continue;
            };
            if begin == end {
                continue;
            }
            self.builder.push(&Slice {
                begin,
                duration: end.abs_diff(begin),
                name,
                lane,
                category,
                link: NONE,
                detail: NONE,
                place: place as u64,
            });
        }
    }
}
