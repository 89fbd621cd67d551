//! Profiles of MindSpore and XLA, memory over time, memory snapshots, folded stacks: columns have one length, and indices lead somewhere.
#![no_main]

use trainscope_format::formats::memory_timeline::MemoryTimeline;
use trainscope_format::formats::mindspore_profile::{self, MindsporeFiles};
use trainscope_format::formats::{folded, memory_snapshot, spans_trace, xplane};
use trainscope_format::Profile;
use trainscope_format::trace::Trace;

fn holds(trace: &Trace) {
    for index in 0..trace.slices.len() {
        let slice = trace.slices.get(index).expect("columns have one length");
        assert!(usize::from(slice.lane) < trace.lanes.len());
        assert!(usize::from(slice.category) < trace.categories.len());
        assert!((slice.name.0 as usize) < trace.texts.len());
    }
    for flow in &trace.flows {
        assert!((flow.from.max(flow.to) as usize) < trace.slices.len());
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    holds(&folded::read(bytes));
    let xplane = xplane::read(bytes);
    holds(&xplane);
    if let Ok((snapshot, _)) = memory_snapshot::read(|| Ok(bytes)) {
        assert!(snapshot.is_sound());
    }
    let memory = MemoryTimeline::read(bytes);
    assert_eq!(memory.times.len(), memory.bytes.len());
    if let Ok(profile) = Profile::read(bytes) {
        holds(&spans_trace::spans_to_trace(std::iter::once(&profile)));
    }
    // The files of a folder, one after another with a zero byte between them.
    let mut parts = bytes.split(|byte| *byte == 0);
    let timeline = folded::read(bytes);
    let files = MindsporeFiles {
        rank: 0,
        executions: parts.next(),
        framework: parts.next(),
        types: parts.next(),
        details: parts.next(),
        iterator: parts.next(),
        kernels: parts.next(),
        steps: parts.next(),
        links: parts.next(),
        info: parts.next(),
        step_trace: parts.next(),
        step_points: parts.next(),
        device_executions: parts.next(),
        ai_cpu: parts.next(),
        framework_raw: parts.next(),
        flops: parts.next(),
        core_details: parts.next(),
        core_types: parts.next(),
        core_means: parts.next(),
        hccl: parts.next(),
        cycle_counter: parts.next(),
        device_timeline: Some(&timeline),
    };
    holds(&mindspore_profile::read(&files, Some(xplane)).0);
});
