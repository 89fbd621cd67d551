//! Tables of sums, for operators without an execution that has a time.

use super::super::super::decimal::scaled;
use super::super::super::trace_builder::lines;
use super::super::table::Table;
use super::super::tables::differences;
use super::super::{MindsporeFiles, MindsporeTable};
use super::{AI_CPU, Execution, Npu, unit_of};

/// Maximum number of executions derived from sums.
const MAX_EXECUTIONS: u64 = 1 << 20;
/// Digits from milliseconds to nanoseconds.
const MILLIS_TO_NANOS: usize = 6;
/// Stream of executions without times.
const WITHOUT_TIMES: &str = "without times";

/// Columns of a table of sums.
struct Columns {
    name: &'static [&'static str],
    /// Mean time of an execution, or the sum of their times.
    time: &'static [&'static str],
    is_mean: bool,
}

const DETAILS: Columns = Columns {
    name: &["full_kernel_name", "full_op_name"],
    time: &["execution_time", "task_duration"],
    is_mean: true,
};
const TYPES: Columns = Columns {
    name: &["kernel_type", "op_type"],
    time: &["total_time", "task_time"],
    is_mean: false,
};

/// Appends the operators without an execution after everything else, one after another: their counts and durations are
/// known, but not their times.
pub(super) fn read(files: &MindsporeFiles<'_>, npu: &mut Npu<'_>, notes: &mut Vec<String>) {
    let has_ai_cpu = files.ai_cpu.is_some();
    if let Some(bytes) = files.core_details {
        let file = MindsporeTable::CoreDetails.file_name(files.rank);
        lay(Table::new(&file, bytes), &DETAILS, has_ai_cpu, npu, notes);
    } else if npu.names.is_empty()
        && let Some(bytes) = files.core_types
    {
        let file = MindsporeTable::CoreTypes.file_name(files.rank);
        lay(Table::new(&file, bytes), &TYPES, has_ai_cpu, npu, notes);
    } else if npu.names.is_empty()
        && let Some(bytes) = files.core_means
    {
        means(files, bytes, npu, notes);
    }
    if let (Some(bytes), true) = (files.core_types, files.core_details.is_some()) {
        let file = MindsporeTable::CoreTypes.file_name(files.rank);
        let time = match Table::new(&file, bytes).column(&["task_time"]) {
            Some(_) => "task_time",
            None => "total_time",
        };
        let columns = ["kernel_type", "execution_frequency", time];
        notes.extend(differences(&file, bytes, columns, &npu.totals));
    }
}

/// An operator with the number of its executions and their time.
struct Sum {
    name: String,
    unit: String,
    count: u64,
    nanos: u64,
    place: usize,
}

fn lay(
    mut table: Table<'_>,
    columns: &Columns,
    has_ai_cpu: bool,
    npu: &mut Npu<'_>,
    notes: &mut Vec<String>,
) {
    let name = table.column(columns.name);
    let count = table.column(&["execution_frequency"]);
    let unit = table.column(&["task_type"]);
    let (Some(name), Some(time), Some(count)) = (name, table.times(columns.time), count) else {
        return table.lacks("of names, times and execution_frequency", notes);
    };
    let mut sums = Vec::new();
    while let Some(row) = table.next_row() {
        let full = row.text(Some(name)).into_owned();
        let count: Option<u64> = row
            .scaled(Some(count), 0)
            .and_then(|number| number.try_into().ok());
        let times = if columns.is_mean { count } else { Some(1) };
        let nanos = times.and_then(|times| row.multiple(time, times));
        let (Some(count), Some(nanos), false) = (count, nanos, full.is_empty()) else {
            table.bad(&row);
            continue;
        };
        let known = unit_of(&row.text(unit)).map(str::to_owned);
        let unit = known.unwrap_or_else(|| npu.facts.unit(&full));
        let is_executed = npu.has_executed(&full) || (has_ai_cpu && unit == AI_CPU);
        if !is_executed {
            sums.push(Sum {
                name: full,
                unit,
                count,
                nanos,
                place: row.offset,
            });
        }
    }
    let file = table.name().to_owned();
    table.finish(&mut npu.builder.trace.counts, notes);
    place(&sums, &file, npu, notes);
}

/// Reads `output_op_compute_time`: a line of dashes, followed by lines with the name, the mean milliseconds of an
/// execution, and the stream.
fn means(files: &MindsporeFiles<'_>, bytes: &[u8], npu: &mut Npu<'_>, notes: &mut Vec<String>) {
    let file = MindsporeTable::CoreMeans.file_name(files.rank);
    let mut sums = Vec::new();
    let (mut bad, mut first_bad) = (0_u64, 0);
    let lines = (1..).zip(lines(bytes));
    let rows = lines
        .skip_while(|(_, (_, line, _))| !line.starts_with(b"--"))
        .skip(1);
    for (number, (offset, line, _)) in rows {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let Some(name) = words.next() else {
            continue;
        };
        let time = words.next().and_then(|text| scaled(text, MILLIS_TO_NANOS));
        let Some(nanos) = time.and_then(|nanos| nanos.try_into().ok()) else {
            first_bad = if bad == 0 { number } else { first_bad };
            bad += 1;
            continue;
        };
        let name = String::from_utf8_lossy(name).into_owned();
        sums.push(Sum {
            unit: npu.facts.unit(&name),
            name,
            count: 1,
            nanos,
            place: offset,
        });
    }
    let counts = &mut npu.builder.trace.counts;
    counts.bytes += bytes.len() as u64;
    counts.events += sums.len() as u64;
    counts.damaged += bad;
    if bad > 0 {
        notes.push(format!(
            "{file}: {bad} rows could not be read, the first in line {first_bad}"
        ));
    }
    place(&sums, &file, npu, notes);
}

fn place(sums: &[Sum], file: &str, npu: &mut Npu<'_>, notes: &mut Vec<String>) {
    let mut begin = npu.end();
    let mut left = MAX_EXECUTIONS;
    for sum in sums {
        let count = sum.count.min(left);
        left -= count;
        npu.builder.trace.counts.over_limit += sum.count - count;
        for number in 0..count {
            // Their lengths add up to the sum.
            let to =
                |number: u64| u128::from(sum.nanos) * u128::from(number) / u128::from(sum.count);
            let nanos = to(number + 1) - to(number);
            let duration = i64::try_from(nanos).unwrap_or(i64::MAX);
            npu.push(&Execution {
                name: &sum.name,
                unit: &sum.unit,
                stream: WITHOUT_TIMES,
                begin,
                duration,
                bytes: 0,
                place: sum.place,
            });
            begin = begin.saturating_add(duration);
        }
    }
    if !sums.is_empty() {
        let operators = sums.len();
        notes.push(format!(
            "{file}: no execution of {operators} of its operators has a time: they stand behind everything else, one \
             after another"
        ));
    }
}

impl Npu<'_> {
    fn has_executed(&self, name: &str) -> bool {
        let trace = &self.builder.trace;
        trace
            .texts
            .find(name)
            .is_some_and(|id| self.names.contains(&id))
    }
}
