//! Statements over 5 million slices.
#![expect(
    clippy::expect_used,
    reason = "a bench whose statement fails measures nothing"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use trainscope_analysis::trace::Model;
use trainscope_format::trace::{Category, Lane, Slice, SliceClass, Trace};
use trainscope_sql::ProfilePart;
use trainscope_sql::query::{Cell, Reader, run};

struct SharedModel(Model);

impl AsRef<Model> for SharedModel {
    fn as_ref(&self) -> &Model {
        &self.0
    }
}

struct Count(usize);

impl Reader for Count {
    fn columns(&mut self, _: &[&str]) {}

    fn row(&mut self, cells: &[Cell<'_>]) -> bool {
        self.0 += black_box(cells).len();
        true
    }
}

/// 5 million slices of 400 names on 8 lanes.
fn model() -> Model {
    let mut trace = Trace::default();
    let names: Vec<_> = (0..400)
        .map(|at| trace.texts.intern(&format!("void at::native::kernel_{at}")))
        .collect();
    trace.lanes = vec![Lane::default(); 8];
    trace.categories.push(Category {
        name: "kernel".to_owned(),
        class: SliceClass::Kernel,
        ..Category::default()
    });
    let mut random = 1_u64;
    for at in 0..5_000_000_i64 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        trace.slices.push(&Slice {
            begin: at * 1_000,
            duration: (random >> 40) % 900,
            name: names[(random >> 33) as usize % names.len()],
            lane: u16::try_from(at % 8).unwrap_or(0),
            category: 0,
            link: u32::MAX,
            detail: u32::MAX,
            place: 0,
        });
    }
    Model::new(trace)
}

fn query(criterion: &mut Criterion) {
    let model: Arc<dyn AsRef<Model> + Send + Sync> = Arc::new(SharedModel(model()));
    let mut group = criterion.benchmark_group("query");
    group.sample_size(10);
    for (name, sql) in [
        (
            "group by name",
            "SELECT name, count(*), sum(duration_ns) FROM slices GROUP BY name",
        ),
        (
            "the longest of a name",
            "SELECT id, duration_ns FROM slices WHERE name = 'void at::native::kernel_7' ORDER BY duration_ns DESC LIMIT 10",
        ),
        (
            "scan",
            "SELECT sum(duration_ns) FROM slices WHERE name LIKE '%kernel_7%'",
        ),
        (
            "by lane and name",
            "SELECT lane, name, count(*) FROM slices GROUP BY lane, name",
        ),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let parts = vec![ProfilePart {
                    rank: 0,
                    model: Arc::clone(&model),
                }];
                let mut count = Count(0);
                let ended = Arc::new(AtomicBool::new(false));
                run(parts, sql, Duration::from_mins(1), &ended, &mut count)
                    .expect("a statement that runs");
                count.0
            });
        });
    }
    group.finish();
}

criterion_group!(benches, query);
criterion_main!(benches);
