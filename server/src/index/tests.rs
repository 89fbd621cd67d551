//! Whole paths through the index against a naive list of points.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use trainscope_api::scalars::{NonFiniteClass, ScalarsQuery, Series};
use trainscope_format::{Format, Kind, RecordBatch, TagId, TagInfo};

use super::store::Batch;
use super::{Block, Identity, Index, Place, Source, Staging};

/// Threads of the one that was there before may hold it a moment longer than the test does.
fn open(folder: &Path) -> Index {
    let open = || Index::open(folder, &["/base".into()]).unwrap();
    let is_held = |index: &Index| index.notes().iter().any(|note| note.contains("holds"));
    let mut index = open();
    for _ in 0..200 {
        if !is_held(&index) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        index = open();
    }
    index
}

fn place(path: &str) -> Place {
    Place {
        run: "run".into(),
        path: path.into(),
        full: Path::new("/base").join(path),
        rank: 0,
    }
}

fn add(index: &Index, path: &str) -> Arc<Source> {
    index.add(place(path), Format::Tfevents, Identity::default())
}

/// Publishes points of tag `loss`, a second apart from `begin_secs` on.
fn publish(index: &Index, source: &Source, begin_secs: f64, points: &[(i64, f64)]) {
    let mut batch = RecordBatch::default();
    let first = source.state().records == 0;
    batch.new_tags.extend(first.then(|| TagInfo {
        name: "loss".into(),
        kind: Kind::Scalars,
    }));
    let before = source.state().records;
    for (i, (step, value)) in points.iter().enumerate() {
        let time = begin_secs + (before + i as u64) as f64;
        batch.scalars.push(TagId(0), *step, time, *value);
    }
    let fed_bytes = source.state().fed_bytes + 10 * points.len() as u64;
    let block = Block {
        batch,
        fed_bytes,
        offset: fed_bytes,
        ..Block::default()
    };
    index.publish(source, &block, &mut Staging::default());
}

fn read(
    index: &Index,
    range: std::ops::RangeInclusive<i64>,
    points: usize,
    superseded: bool,
) -> Series {
    let query = ScalarsQuery {
        run: "run".to_owned(),
        tag: "loss".to_owned(),
        from: Some(*range.start()),
        to: Some(*range.end()),
        points: Some(points),
        superseded: u8::from(superseded),
        ..ScalarsQuery::default()
    };
    index.series(&query).unwrap().read().unwrap()
}

/// The points that no later one of a lower step has superseded.
fn live(points: &[(i64, f64)]) -> Vec<(i64, f64)> {
    let later = |i: usize| {
        points[i + 1..]
            .iter()
            .map(|p| p.0)
            .min()
            .unwrap_or(i64::MAX)
    };
    let kept = points.iter().enumerate().filter(|(i, p)| p.0 <= later(*i));
    kept.map(|(_, p)| *p).collect()
}

fn assert_raw(series: &Series, expected: &[(i64, f64)]) {
    let got: Vec<_> = series
        .steps
        .iter()
        .zip(&series.values)
        .map(|(s, v)| (*s, v.to_bits()))
        .collect();
    let expected: Vec<_> = expected.iter().map(|(s, v)| (*s, v.to_bits())).collect();
    assert_eq!(got.len(), expected.len());
    assert_eq!(got, expected);
    assert_eq!(series.total, expected.len() as u64);
    assert_eq!(series.wall_times_secs.len(), expected.len());
    assert!(!series.cut);
}

fn assert_buckets(series: &Series, expected: &[(i64, f64)], points: usize) {
    assert!(series.cut && series.steps.len() <= points);
    assert_eq!(series.total, expected.len() as u64);
    let finite = || expected.iter().map(|p| p.1).filter(|v| v.is_finite());
    let extreme = |column: &[f64], pick: fn(f64, f64) -> f64| column.iter().copied().reduce(pick);
    if let Some(min) = finite().reduce(f64::min) {
        assert_eq!(extreme(&series.min, f64::min), Some(min));
        assert_eq!(extreme(&series.max, f64::max), finite().reduce(f64::max));
    }
    assert_eq!(series.steps.last(), expected.last().map(|p| &p.0));
    let nan = series
        .non_finite
        .iter()
        .filter(|s| s.class == NonFiniteClass::Nan);
    assert_eq!(
        nan.clone().map(|s| s.count).sum::<u64>(),
        expected.iter().filter(|p| p.1.is_nan()).count() as u64
    );
    let first_nan = expected.iter().find(|p| p.1.is_nan()).map(|p| p.0);
    assert_eq!(nan.map(|s| s.first_step).next(), first_nan);
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        40 => -1e6_f64..1e6,
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(-0.0),
    ]
}

/// Points whose steps mostly ascend, sometimes repeat and seldom go back.
fn points() -> impl Strategy<Value = Vec<(i64, f64)>> {
    let stride = prop_oneof![300 => 1_i64..4, 20 => Just(0_i64), 1 => -900_i64..0];
    proptest::collection::vec((stride, value()), 1..6_000).prop_map(|steps| {
        let mut step = 0;
        let walk = steps.into_iter().map(|(stride, value)| {
            step += stride;
            (step, value)
        });
        walk.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_read_is_what_was_published(
        points in points(),
        cut in 1_usize..3_000,
        commit_every in 1_usize..4,
        pack_every in 1_usize..4,
        wanted in 1_usize..200,
        from in 0_usize..6_000,
        len in 0_i64..9_000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        let source = add(&index, "a");
        for (i, part) in points.chunks(cut).enumerate() {
            publish(&index, &source, 1e9, part);
            if i % pack_every == 0 {
                index.pack(&source);
            }
            if i % commit_every == 0 {
                index.commit().unwrap();
            }
        }
        let from = points[from % points.len()].0;
        let range = from..=from + len;
        let live = live(&points);
        let inside: Vec<_> = live.iter().copied().filter(|p| range.contains(&p.0)).collect();
        let check = |index: &Index| {
            assert_raw(&read(index, i64::MIN..=i64::MAX, usize::MAX, false), &live);
            assert_raw(&read(index, i64::MIN..=i64::MAX, usize::MAX, true), &points);
            assert_raw(&read(index, range.clone(), usize::MAX, false), &inside);
            for (expected, range) in [(&live, i64::MIN..=i64::MAX), (&inside, range.clone())] {
                if expected.len() > wanted {
                    assert_buckets(&read(index, range, wanted, false), expected, wanted);
                }
            }
            let tags = index.tags("run").unwrap().tags;
            assert_eq!(tags[0].points, live.len() as u64);
            assert_eq!(tags[0].superseded, (points.len() - live.len()) as u64);
            assert_eq!(tags[0].first_step, live.iter().map(|p| p.0).min());
            assert_eq!(tags[0].last_step, live.iter().map(|p| p.0).max());
        };
        check(&index);
        index.commit().unwrap();
        check(&index);
        drop(index);
        check(&open(folder.path()));
    }
}

#[test]
fn what_was_not_committed_is_not_there_after_a_crash_and_neither_is_its_offset() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let source = add(&index, "a");
    publish(&index, &source, 1e9, &[(0, 1.0), (1, 2.0)]);
    index.commit().unwrap();
    publish(&index, &source, 1e9, &[(2, 3.0)]);
    assert_eq!(read(&index, 0..=9, 100, false).total, 3);
    // Two handles of one tree cannot be open, so the first one ends without a commit.
    drop((index, source));
    let index = open(folder.path());
    assert_eq!(read(&index, 0..=9, 100, false).values, [1.0, 2.0]);
    let source = &index.sources()[0];
    assert_eq!((source.state().offset, source.state().fed_bytes), (20, 20));
    publish(&index, source, 1e9, &[(2, 3.0)]);
    assert_eq!(read(&index, 0..=9, 100, false).values, [1.0, 2.0, 3.0]);
}

#[test]
fn a_commit_that_is_cut_off_leaves_what_was_committed_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    // Values that do not pack, so that the rest is several batches.
    let point = |step: i64| {
        (
            step,
            f64::from_bits(step.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2),
        )
    };
    let points: Vec<_> = (0..400_000).map(point).collect();
    let (before, rest) = points.split_at(1_500);
    let source = add(&index, "a");
    publish(&index, &source, 1e9, before);
    index.commit().unwrap();
    let empty_keys = index.0.store.len();

    publish(&index, &source, 1e9, rest);
    let other = add(&index, "b");
    publish(&index, &other, 2e9, rest);
    let mut batches = 0;
    for source in [source, other] {
        let write_ahead = |batch| {
            batches += 1;
            index.0.store.apply(batch, index.meta()).unwrap();
        };
        // The last batch, with the records, is never written.
        assert!(source.commit(&mut Batch::default(), write_ahead).is_some());
    }
    index.0.store.flush().unwrap();
    assert!(batches > 3, "{batches}");
    assert!(index.0.store.len() > empty_keys + 500);
    drop(index);

    let index = open(folder.path());
    let all = i64::MIN..=i64::MAX;
    assert_raw(&read(&index, all.clone(), 500_000, false), before);
    let source = Arc::clone(&index.sources()[0]);
    assert_eq!(index.sources().len(), 1);
    publish(&index, &source, 1e9, rest);
    index.commit().unwrap();
    let keys = index.0.store.len();
    drop((index, source));
    let index = open(folder.path());
    assert_raw(&read(&index, all, 500_000, false), &points);
    // Nothing is left of the file that was never counted: a chunk and a summary for each 1,024 points, and three records.
    assert_eq!(keys, 2 * points.len().div_ceil(1_024) + 3);
}

#[test]
fn a_restart_in_another_file_supersedes_and_a_concurrent_writer_is_a_series_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let points =
        |steps: std::ops::Range<i64>, value: f64| steps.map(|s| (s, value)).collect::<Vec<_>>();
    publish(&index, &add(&index, "a"), 1_000.0, &points(0..100, 1.0));
    publish(&index, &add(&index, "b"), 2_000.0, &points(50..60, 2.0));
    let series = read(&index, i64::MIN..=i64::MAX, 1_000, false);
    assert_eq!(series.steps, (0..60).collect::<Vec<_>>());
    assert_eq!(series.values[49..51], [1.0, 2.0]);
    assert_eq!(read(&index, i64::MIN..=i64::MAX, 1_000, true).total, 110);

    publish(&index, &add(&index, "c"), 1_050.0, &points(0..5, 3.0));
    let tags = index.tags("run").unwrap().tags;
    let writers: Vec<_> = tags
        .iter()
        .map(|t| (t.writer.as_deref(), t.points, t.superseded))
        .collect();
    assert_eq!(writers, [(None, 60, 50), (Some("c"), 5, 0)]);
    let query = ScalarsQuery {
        run: "run".to_owned(),
        tag: "loss".to_owned(),
        writer: Some("c".to_owned()),
        ..ScalarsQuery::default()
    };
    assert_eq!(
        index.series(&query).unwrap().read().unwrap().values,
        [3.0; 5]
    );
}

#[test]
fn a_removed_source_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let source = add(&index, "a");
    publish(
        &index,
        &source,
        1e9,
        &(0..5_000).map(|s| (s, 1.0)).collect::<Vec<_>>(),
    );
    index.commit().unwrap();
    index.remove(&source);
    drop((index, source));
    let index = open(folder.path());
    assert!(index.runs().runs.is_empty());
    assert_eq!(index.ingest().records, 0);
}

#[test]
fn an_index_of_another_version_or_a_damaged_one_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    publish(&index, &add(&index, "a"), 1e9, &[(0, 1.0)]);
    index.commit().unwrap();
    drop(index);
    let tree = super::store::folder(folder.path(), &["/base".into()]);
    for entry in std::fs::read_dir(&tree).unwrap().flatten() {
        if entry.file_type().unwrap().is_file() {
            std::fs::write(entry.path(), b"not a tree").unwrap();
        }
    }
    let index = open(folder.path());
    assert_eq!(index.notes().len(), 1);
    assert!(index.runs().runs.is_empty());
}

#[test]
fn a_second_server_keeps_an_index_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path());
    let second = open(folder.path());
    assert!(first.notes().is_empty());
    assert_eq!(second.notes().len(), 1);
    publish(&second, &add(&second, "a"), 1e9, &[(0, 1.0)]);
    assert_eq!(read(&second, 0..=9, 100, false).total, 1);
}
