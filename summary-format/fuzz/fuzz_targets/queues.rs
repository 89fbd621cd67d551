//! Profiler files of data pipelines.
#![no_main]

use trainscope_format::queues::{Batches, Operators, Usage};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let usage = Usage::read(bytes);
    if let Ok(usage) = &usage {
        assert!(usage.operators.len() <= Operators::MOST.min(usage.total));
    }
    if let Ok(mut found) = Operators::read(bytes) {
        found.take_usage(&usage.unwrap_or_default());
        let all = &found.operators;
        assert!(all.len() <= Operators::MOST.min(found.total));
        for own in all {
            assert!(own.inputs.iter().all(|input| *input < all.len()));
            let fill = own.queue.as_ref().and_then(|queue| queue.mean_fill());
            assert!(fill.is_none_or(|fill| (0.0..=1.0).contains(&fill)));
        }
    }
    assert!(Batches::read(bytes).batches.len() <= bytes.len());
});
