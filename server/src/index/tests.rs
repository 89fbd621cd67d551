//! Whole paths through the index compared with a naive list of points.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use trainscope_analysis::restart::{leave_newest, rewinds};
use trainscope_api::runs::RunStatus;
use trainscope_api::scalars::{NonFiniteClass, ScalarsQuery, Series};
use trainscope_format::{Format, Kind, RecordBatch, SessionStart, TagId, TagInfo};

mod closed;

use super::store::Batch;
use super::{Index, Source, Staging};
use crate::discovery::file::{Identity, Place};
use crate::reader::Block;

/// Threads of the previous index may hold the lock a moment longer than the test.
fn open(folder: &Path) -> Index {
    let open = || Index::open(folder, &["/base".into()]).unwrap();
    let is_held = |index: &Index| {
        index
            .notices()
            .messages()
            .iter()
            .any(|note| note.contains("holds"))
    };
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

/// Publishes points of tag `loss`, a second apart, starting at `begin_secs`.
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

/// Live points in the order of the answer, and superseded ones in the order of the file.
fn sides(points: &[(i64, f64)]) -> [Vec<(i64, f64)>; 2] {
    let steps: Vec<i64> = points.iter().map(|point| point.0).collect();
    let mut found = rewinds(&steps, &[]);
    leave_newest(&mut found, &steps);
    let of = |side: bool| {
        let marked = points.iter().zip(&found.live);
        marked
            .filter(|(_, live)| **live == side)
            .map(|(point, _)| *point)
            .collect()
    };
    let mut live: Vec<(i64, f64)> = of(true);
    if !found.is_per_epoch {
        live.sort_by_key(|point| point.0);
    }
    [live, of(false)]
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
    // Ranges are in step order, which steps counted per epoch are not.
    let first_nan = expected.iter().find(|p| p.1.is_nan()).map(|p| p.0);
    assert!(first_nan.is_none_or(|first| nan.clone().any(|s| s.first_step == first)));
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
        let [live, superseded] = sides(&points);
        let all: Vec<_> = live.iter().chain(&superseded).copied().collect();
        let inside: Vec<_> = live.iter().copied().filter(|p| range.contains(&p.0)).collect();
        let check = |index: &Index| {
            assert_raw(&read(index, i64::MIN..=i64::MAX, usize::MAX, false), &live);
            let both = read(index, i64::MIN..=i64::MAX, usize::MAX, true);
            assert_eq!(both.live, Some(live.len() as u64));
            assert_raw(&both, &all);
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
    // Nothing is left of the file that was never counted: a chunk and a summary for each 1,024 points, and three
    // records.
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
    assert!(series.steps.iter().copied().eq(0..100));
    assert_eq!(series.values[49..51], [1.0, 2.0]);
    assert_eq!(series.values[59..61], [2.0, 1.0]);
    let both = read(&index, i64::MIN..=i64::MAX, 1_000, true);
    assert_eq!((both.total, both.live), (110, Some(100)));
    assert!(both.steps[100..].iter().copied().eq(50..60));
    assert_eq!(both.values[100..], [1.0; 10]);

    publish(&index, &add(&index, "c"), 1_050.0, &points(0..5, 3.0));
    let tags = index.tags("run").unwrap().tags;
    let writers: Vec<_> = tags
        .iter()
        .map(|t| (t.writer.as_deref(), t.points, t.superseded))
        .collect();
    assert_eq!(writers, [(None, 100, 10), (Some("c"), 5, 0)]);
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
fn a_copy_is_not_live_and_what_grows_or_was_recorded_now_is() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let status = |index: &Index| index.runs().runs[0].status;
    let source = add(&index, "run/a");
    let now = std::time::SystemTime::now();
    source.with_state(|state| state.modified = Some(now));
    publish(&index, &source, 1_000.0, &[(0, 1.0), (1, 0.5)]);
    assert_eq!(status(&index), RunStatus::Stopped);
    source.with_state(|state| state.has_grown = true);
    assert_eq!(status(&index), RunStatus::Live);

    let fresh = tempfile::tempdir().unwrap();
    let index = open(fresh.path());
    let source = add(&index, "run/a");
    source.with_state(|state| state.modified = Some(now));
    let now_secs = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    publish(
        &index,
        &source,
        now_secs.as_secs_f64() - 2.0,
        &[(0, 1.0), (1, 0.5)],
    );
    assert_eq!(status(&index), RunStatus::Live);
}

#[test]
fn lists_of_tags_count_as_people_do() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let source = add(&index, "run/a");
    let mut batch = RecordBatch::default();
    for (number, name) in ["fc10.bias", "fc2.bias", "fc1.bias"]
        .into_iter()
        .enumerate()
    {
        batch.new_tags.push(TagInfo {
            name: name.into(),
            kind: Kind::Scalars,
        });
        let id = TagId(u32::try_from(number).unwrap());
        batch.scalars.push(id, 0, 1_000.0, 1.0);
    }
    let block = Block {
        batch,
        fed_bytes: 30,
        offset: 30,
        ..Block::default()
    };
    index.publish(&source, &block, &mut Staging::default());
    let tags = index.tags("run").unwrap().tags;
    let names: Vec<&str> = tags.iter().map(|tag| &*tag.tag).collect();
    assert_eq!(names, ["fc1.bias", "fc2.bias", "fc10.bias"]);
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
    assert_eq!(index.notices().messages().len(), 1);
    assert!(index.runs().runs.is_empty());
}

#[test]
fn a_second_server_keeps_an_index_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path());
    let second = open(folder.path());
    assert!(first.notices().messages().is_empty());
    assert_eq!(second.notices().messages().len(), 1);
    publish(&second, &add(&second, "a"), 1e9, &[(0, 1.0)]);
    assert_eq!(read(&second, 0..=9, 100, false).total, 1);
}

/// First wall time, and steps a second apart.
type File = (f64, Vec<i64>);

/// An index of these files; values are the number of the file.
fn index_of(files: &[File]) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    for (number, (first, steps)) in files.iter().enumerate() {
        let points: Vec<_> = steps.iter().map(|step| (*step, number as f64)).collect();
        publish(
            &index,
            &add(&index, &format!("file{number}")),
            *first,
            &points,
        );
    }
    (folder, index)
}

/// Number of live points of each writer.
fn live_counts(index: &Index) -> Vec<u64> {
    let tags = index.tags("run").unwrap().tags;
    tags.iter().map(|tag| tag.points).collect()
}

#[test]
fn points_that_were_written_once_are_never_hidden() {
    let range = |steps: std::ops::Range<i64>| steps.collect::<Vec<i64>>();
    let by_hundred: Vec<i64> = (0..10).map(|n| n * 100).collect();
    let late = vec![100, 200, 300, 250, 400, 350, 500];
    let mut sanity = range(0..10);
    sanity.push(0);
    let again: Vec<i64> = (0..100).chain(50..80).collect();
    let cases: &[(&str, Vec<File>, &[u64])] = &[
        (
            "an attempt that ended after its first step",
            vec![(0.0, range(0..100)), (1e6, vec![0])],
            &[100],
        ),
        (
            "an evaluation, once, below the first step",
            vec![(0.0, range(1..100)), (1e6, vec![0])],
            &[99, 1],
        ),
        ("one file, once more at step 0", vec![(0.0, sanity)], &[10]),
        (
            "steps of the batch, five epochs",
            vec![(0.0, (0..5).flat_map(|_| 0..50).collect())],
            &[250],
        ),
        ("asynchronous evaluation", vec![(0.0, late)], &[7]),
        (
            "from scratch, ended after two steps",
            vec![(0.0, range(0..1_000)), (1e6, range(0..2))],
            &[1_000],
        ),
        (
            "fine-tuning from step 0",
            vec![(0.0, range(0..100)), (1e6, range(0..30))],
            &[100],
        ),
        (
            "a clock that is behind",
            vec![(1e6, range(0..100)), (1e6 - 3_600.0, range(50..150))],
            &[150],
        ),
        (
            "resumed before the last record",
            vec![(0.0, range(0..100)), (98.5, range(100..200))],
            &[200],
        ),
        ("one file, back to a checkpoint", vec![(0.0, again)], &[80]),
        (
            "a sanity check, then resumed",
            vec![(0.0, by_hundred), (1e6, vec![0, 1_000])],
            &[11],
        ),
        (
            "each step corrected, in another order",
            vec![(0.0, (0..50).chain((0..50).map(|n| n * 23 % 50)).collect())],
            &[50],
        ),
        (
            "two values a step",
            vec![(0.0, vec![0, 0, 1, 1, 2, 2])],
            &[3],
        ),
    ];
    for (what, files, expected) in cases {
        let (_folder, index) = index_of(files);
        assert_eq!(live_counts(&index), *expected, "{what}");
        let recorded: usize = files.iter().map(|file| file.1.len()).sum();
        let tags = index.tags("run").unwrap().tags;
        let told: u64 = tags.iter().map(|tag| tag.points + tag.superseded).sum();
        assert_eq!(told, recorded as u64, "{what}");
        let series = read(&index, i64::MIN..=i64::MAX, usize::MAX, false);
        assert_eq!(series.total, expected[0], "{what}");
        assert_eq!(series.per_epoch, what.contains("epochs"), "{what}");
        assert!(series.per_epoch || series.steps.is_sorted(), "{what}");
    }
    // The resumed training takes precedence, regardless of its clock.
    let (_folder, index) = index_of(&cases[7].1);
    let series = read(&index, i64::MIN..=i64::MAX, usize::MAX, false);
    assert_eq!(series.values[49..51], [0.0, 1.0]);
}

#[test]
fn a_session_start_supersedes_also_what_is_not_written_again() {
    let (folder, index) = index_of(&[(0.0, (0..10).map(|n| n * 10).collect())]);
    let source = add(&index, "resumed");
    let start = SessionStart {
        step: 50,
        wall_time_secs: 1e6,
    };
    let mut block = Block::default();
    block.batch.session_starts.push(start);
    index.publish(&source, &block, &mut Staging::default());
    assert_eq!(live_counts(&index), [5]);
    index.commit().unwrap();
    drop((index, source));
    let index = open(folder.path());
    assert_eq!(live_counts(&index), [5]);
    let series = read(&index, i64::MIN..=i64::MAX, 100, true);
    assert_eq!((series.total, series.live), (10, Some(5)));
}

#[test]
fn a_notice_has_the_step_of_all_files_of_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let (ahead, behind) = (add(&index, "run/rank_0/a"), add(&index, "run/rank_1/a"));
    publish(&index, &ahead, 0.0, &[(157, 1.0)]);
    publish(&index, &behind, 0.0, &[(78, 1.0)]);
    index.announce(false);
    let mut notices = index.notices().subscribe();
    publish(&index, &behind, 1.0, &[(79, 1.0)]);
    index.announce(false);
    let notice = notices.try_recv().unwrap();
    assert_eq!(notice.runs.len(), 1);
    assert_eq!(notice.runs[0].last_step, Some(157));
    assert_eq!(notice.runs[0].tags, ["loss"]);
}
