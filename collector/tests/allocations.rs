//! Recording a number allocates nothing after a warm-up.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use trainscope_collector::Collector;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator is made of unsafe functions")]
// SAFETY: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn scalars_and_spans_allocate_nothing_after_warming_up() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path()).start().unwrap();
    let record = |step| {
        collector.scalar("train/loss", step, 0.5);
        collector.scalars(step, &[("a", 1.0), ("b", 2.0)]);
        drop(collector.span("forward"));
    };
    // The first call allocates thread-local state such as the thread name.
    record(0);
    assert!(collector.flush());
    let before = COUNT.get();
    for _ in 0..4 {
        (0..5_000).for_each(record);
        assert!(collector.flush());
    }
    assert_eq!(COUNT.get() - before, 0);
    assert!(collector.finish().is_complete());
}
