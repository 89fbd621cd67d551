//! Traces in Chrome JSON: no panic, the same in all cuts, and columns that refer to nothing that is not there.
#![no_main]

use trainscope_format::formats::trace_json::{TraceReader, arguments, is_trace_json};
use trainscope_format::trace::Trace;

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Trace {
    let mut reader = TraceReader::new();
    for piece in pieces {
        reader.push(piece);
    }
    let mut trace = reader.finish();
    // NaN is a value, and differs from itself.
    for value in trace.counters.iter_mut().flat_map(|series| &mut series.values) {
        *value = if value.is_nan() { 0.5 } else { *value };
    }
    for work in &mut trace.device_work {
        for share in [&mut work.blocks_per_multiprocessor, &mut work.occupancy_percent] {
            *share = if share.is_nan() { 0.5 } else { *share };
        }
    }
    trace
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    is_trace_json(bytes);
    arguments(bytes);
    let trace = read(std::iter::once(bytes));
    assert_eq!(read(bytes.chunks(1)), trace);
    assert_eq!(read(bytes.chunks(1_000)), trace);

    let slices = &trace.slices;
    let len = slices.len();
    assert!(
        slices
            .lanes
            .iter()
            .all(|lane| usize::from(*lane) < trace.lanes.len())
    );
    let categories = trace.categories.len();
    assert!(
        slices
            .categories
            .iter()
            .all(|category| usize::from(*category) < categories)
    );
    assert!(
        slices
            .names
            .iter()
            .all(|name| (name.0 as usize) < trace.texts.len())
    );
    assert!(
        slices
            .places
            .iter()
            .all(|place| bytes.get(*place as usize) == Some(&b'{'))
    );
    assert!(
        trace
            .flows
            .iter()
            .all(|flow| (flow.from.max(flow.to) as usize) < len)
    );
    assert!(
        trace
            .counts
            .unfinished
            .iter()
            .all(|slice| (*slice as usize) < len)
    );
    let counted: u64 = trace.categories.iter().map(|category| category.count).sum();
    assert_eq!(counted, len as u64);
    let end = bytes.len() as u64;
    assert!(
        trace
            .counts
            .damages
            .iter()
            .all(|damage| damage.offset + damage.len <= end)
    );
});
