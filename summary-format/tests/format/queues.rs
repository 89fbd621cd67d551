//! Profiler files of data pipelines: real ones, and cut, changed and recombined ones.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use trainscope_format::queues::{Batches, Operators, Queue, Usage};

const FOLDERS: [&str; 5] = [
    "ms20-profiler/lenet",
    "ms20-profiler/slow-data",
    "ms210-profiler/lenet",
    "ms210-profiler/slow-data",
    "ms210-profiler/waves",
];
const FILES: [&str; 3] = [
    "pipeline_profiling_0.json",
    "minddata_cpu_utilization_0.json",
    "dataset_iterator_profiling_0.txt",
];

fn files() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let of =
        |folder: &str, file: &str| -> PathBuf { root.join(folder).join("profiler").join(file) };
    let all = FOLDERS
        .iter()
        .flat_map(|folder| FILES.iter().map(move |file| of(folder, file)));
    all.map(|path| std::fs::read(path).unwrap()).collect()
}

/// Reads bytes as each kind of file, and checks the invariants of the result.
fn read(bytes: &[u8]) {
    let usage = Usage::read(bytes).unwrap_or_default();
    assert!(usage.operators.len() <= Operators::MOST.min(usage.total));
    if let Ok(mut found) = Operators::read(bytes) {
        found.take_usage(&usage);
        assert!(found.operators.len() <= Operators::MOST.min(found.total));
        for operator in &found.operators {
            let all = found.operators.len();
            assert!(operator.inputs.iter().all(|input| *input < all));
            let fill = operator.queue.as_ref().and_then(Queue::mean_fill);
            assert!(fill.is_none_or(|fill| (0.0..=1.0).contains(&fill)));
        }
    }
    assert!(Batches::read(bytes).batches.len() <= bytes.len());
}

#[test]
fn queues_and_processors_have_a_sample_each() {
    for files in files().chunks(FILES.len()) {
        let [operators, usage, batches] = files else {
            unreachable!("they come by folders")
        };
        let mut found = Operators::read(operators).unwrap();
        found.take_usage(&Usage::read(usage).unwrap());
        assert_eq!(found.processors, 2);
        let queues = found.operators.iter().filter_map(|operator| {
            let queue = operator.queue.as_ref()?;
            Some((queue.sizes.len(), operator.cpu_percent.len()))
        });
        let queues: Vec<_> = queues.collect();
        assert!(queues.len() >= 4);
        assert!(queues.iter().all(|(sizes, cpu)| sizes == cpu && *cpu > 0));
        let batches = Batches::read(batches);
        assert!(batches.batches.len() >= 12 && !batches.is_torn);
        assert_eq!(batches.skipped_lines, 0);
    }
}

proptest! {
    #[test]
    fn no_file_is_too_odd(
        one in 0..FOLDERS.len() * FILES.len(),
        other in 0..FOLDERS.len() * FILES.len(),
        (cut, from) in (any::<Index>(), any::<Index>()),
        changes in prop::collection::vec(
            (any::<Index>(), prop_oneof![any::<u8>(), Just(b'-'), Just(b'9'), Just(b'['), Just(b'}')]),
            0..12,
        ),
    ) {
        let files = files();
        let (head, tail) = (&files[one], &files[other]);
        let mut bytes = head[..cut.index(head.len() + 1)].to_vec();
        bytes.extend_from_slice(&tail[from.index(tail.len() + 1)..]);
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        read(&bytes);
    }

    #[test]
    fn no_number_is_too_large(
        sizes in prop::collection::vec(any::<i64>(), 0..5),
        (length, workers, id) in (any::<u64>(), any::<u64>(), any::<i64>()),
    ) {
        let text = format!(
            r#"{{"sampling_interval": {length}, "cpu_processor_num": {workers}, "op_info": [{{"op_id": {id}, "num_workers": {workers},
               "children": {sizes:?}, "metrics": {{"output_queue": {{"length": {length}, "size": {sizes:?}}},
               "user_utilization": {sizes:?}, "sys_utilization": {sizes:?}}}}}]}}"#
        );
        let mut found = Operators::read(text.as_bytes()).unwrap();
        let usage = Usage::read(text.as_bytes()).unwrap();
        found.take_usage(&usage);
        prop_assert_eq!(found.operators[0].cpu_percent.len(), sizes.len());
        read(text.as_bytes());
    }
}
