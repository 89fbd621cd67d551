//! Tables of Ascend devices since `MindSpore` 2.4, and of `torch_npu`, read as documented: no real file was available.

use std::collections::{BTreeMap, HashMap};

use super::super::trace_builder::TraceBuilder;
use super::MindsporeFiles;
use super::table::Table;
use crate::trace::{DeclaredStep, DeviceWork, Lane, LaneKind, NONE, Slice, SliceClass};

/// Digits from microseconds to nanoseconds.
const MICROS_TO_NANOS: usize = 3;

/// Reads the tables. Kernels of a timeline are not read again.
pub(super) fn read(
    files: &MindsporeFiles<'_>,
    builder: &mut TraceBuilder,
    notes: &mut Vec<String>,
) {
    let mut steps = BTreeMap::new();
    if let Some(bytes) = files.kernels {
        let has_device = builder
            .trace
            .lanes
            .iter()
            .any(|lane| lane.kind == LaneKind::Device);
        kernels(bytes, !has_device, builder, &mut steps, notes);
    }
    let declared = steps.iter().map(|(number, (begin, end))| DeclaredStep {
        number: *number,
        begin: *begin,
        end: *end,
    });
    builder.trace.declared_steps.extend(declared);
    let Some(bytes) = files.steps else {
        return;
    };
    let mut table = Table::new("step_trace_time.csv", bytes);
    let Some(column) = table.column(&["Step"]) else {
        return table.lacks("Step", notes);
    };
    let mut unplaced = 0_u64;
    while let Some(row) = table.next_row() {
        let number = row.scaled(Some(column), 0);
        unplaced += u64::from(number.is_none_or(|number| !steps.contains_key(&number)));
    }
    if unplaced > 0 {
        notes.push(format!(
            "step_trace_time: {unplaced} steps have no kernels with their number, and the table has no times"
        ));
    }
}

/// Begin and end of each step by its number.
type Extents = BTreeMap<i64, (i64, i64)>;

/// Reads `kernel_details.csv`: one row a kernel, columns by name, `N/A` for missing measurements.
fn kernels(
    bytes: &[u8],
    are_kept: bool,
    builder: &mut TraceBuilder,
    steps: &mut Extents,
    notes: &mut Vec<String>,
) {
    let mut table = Table::new("kernel_details.csv", bytes);
    let name = table.column(&["Name", "Op Name"]);
    let start = table.column(&["Start Time(us)", "Start Time (us)", "Start Time"]);
    let duration = table.column(&["Duration(us)", "Duration (us)", "Duration"]);
    let (Some(name), Some(start), Some(duration)) = (name, start, duration) else {
        return table.lacks("Name, Start Time(us), Duration(us)", notes);
    };
    let step = table.column(&["Step Id", "Step ID"]);
    let device = table.column(&["Device_id", "Device Id", "Device ID"]);
    let stream = table.column(&["Stream ID", "Stream Id", "Accelerator Core"]);
    let category = builder.category("kernel", SliceClass::Kernel);
    let mut works: HashMap<u32, u32> = HashMap::new();
    while let Some(row) = table.next_row() {
        let offset = row.offset;
        let micros = |column| row.scaled(Some(column), MICROS_TO_NANOS);
        let (Some(begin), Some(duration)) = (micros(start), micros(duration)) else {
            builder.trace.counts.damage(offset, row.len_bytes());
            continue;
        };
        let duration = u64::try_from(duration).unwrap_or_else(|_| {
            builder.trace.counts.negative_durations += 1;
            0
        });
        if let Some(number) = row.scaled(step, 0) {
            let end = begin.saturating_add_unsigned(duration);
            let extent = steps.entry(number).or_insert((begin, end));
            *extent = (extent.0.min(begin), extent.1.max(end));
        }
        if !are_kept {
            continue;
        }
        let device: u32 = row.text(device).parse().unwrap_or(0);
        let stream = row.text(stream).into_owned();
        let lane = builder.lane(Lane {
            process: format!("NPU {device}"),
            process_name: format!("NPU {device}"),
            thread_name: stream.clone(),
            thread: stream,
            kind: LaneKind::Device,
            ..Lane::default()
        });
        let name = builder.name(&row.text(Some(name)));
        let (Some(lane), Some(name)) = (lane, name) else {
            builder.trace.counts.over_limit += 1;
            continue;
        };
        let list = &mut builder.trace.device_work;
        let detail = *works.entry(device).or_insert_with(|| {
            list.push(DeviceWork {
                device,
                blocks_per_multiprocessor: -1.0,
                occupancy_percent: -1.0,
                sequence: NONE,
                ..DeviceWork::default()
            });
            u32::try_from(list.len() - 1).unwrap_or(NONE)
        });
        builder.push(&Slice {
            begin,
            duration,
            name,
            lane,
            category,
            link: NONE,
            detail,
            place: offset as u64,
        });
    }
    table.finish(&mut builder.trace.counts, notes);
}

#[cfg(test)]
mod tests {
    use super::super::{MindsporeFiles, read};
    use crate::trace::{DeclaredStep, LaneKind};

    const KERNELS: &str = "\
Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)
1,3,MatMul,MatMul,AI_CORE,\"1795213065592204.785\t\",12.5,0
1,3,hcom_allReduce_,hcom_allReduce_,COMMUNICATION,1795213065592220.5,30,N/A
2,3,MatMul,MatMul,AI_CORE,1795213065592300,12.25,0
N/A,3,Cast,Cast,AI_VECTOR_CORE,N/A,1,0
";

    #[test]
    fn kernels_and_steps_are_found_by_the_names_of_columns() {
        let files = MindsporeFiles {
            kernels: Some(KERNELS.as_bytes()),
            steps: Some(b"Step,Computing,Free\n1,42.5,3\n2,12.25,1\n3,1,1\n"),
            ..MindsporeFiles::default()
        };
        let (trace, notes) = read(&files, None);
        assert_eq!(
            trace.slices.begins,
            [
                1_795_213_065_592_204_785,
                1_795_213_065_592_220_500,
                1_795_213_065_592_300_000
            ]
        );
        assert_eq!(trace.slices.durations, [12_500, 30_000, 12_250]);
        assert_eq!(trace.head.unix_offset_nanos, Some(0));
        let lanes: Vec<_> = trace.lanes.iter().map(|lane| &*lane.thread).collect();
        assert_eq!(lanes, ["AI_CORE", "COMMUNICATION"]);
        assert!(trace.lanes.iter().all(|lane| lane.kind == LaneKind::Device));
        assert_eq!(trace.device_work[0].device, 3);
        assert_eq!(
            trace.declared_steps[0],
            DeclaredStep {
                number: 1,
                begin: 1_795_213_065_592_204_785,
                end: 1_795_213_065_592_250_500
            }
        );
        assert_eq!(trace.declared_steps.len(), 2);
        let damage = trace.counts.damages[0];
        let offset = KERNELS.find("N/A,3,Cast").unwrap();
        assert_eq!(damage.offset, offset as u64);
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("1 steps have no kernels"));
    }

    #[test]
    fn other_tables_are_refused_with_a_note() {
        let files = MindsporeFiles {
            kernels: Some(b"a,b\n1,2\n"),
            steps: Some(b"\xff"),
            ..MindsporeFiles::default()
        };
        let (trace, notes) = read(&files, None);
        assert_eq!((trace.slices.len(), notes.len()), (0, 2));
    }
}
