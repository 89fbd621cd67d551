//! An index on a disk that has become full.

use super::{add, open, publish, read};

#[test]
fn a_tree_that_takes_no_more_writes_is_read_as_it_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let source = add(&index, "events");
    let points = |range: std::ops::Range<i64>| -> Vec<_> {
        range.map(|step| (step, (step * 37 % 101) as f64)).collect()
    };
    publish(&index, &source, 0.0, &points(0..10_000));
    assert_eq!(index.commit().unwrap(), 1);
    let committed = read(&index, 0..=i64::MAX, usize::MAX, false);
    publish(&index, &source, 0.0, &points(10_000..20_000));
    let full = sled::Error::Io(std::io::ErrorKind::StorageFull.into());
    assert!(index.0.store.reopen(&full));
    publish(&index, &source, 0.0, &points(20_000..30_000));
    for _ in 0..2 {
        let error = index.commit().unwrap_err().to_string();
        assert!(
            error.ends_with("cannot be written: no storage space"),
            "{error}"
        );
    }
    let all = read(&index, 0..=i64::MAX, usize::MAX, false);
    assert_eq!(all.steps, (0..30_000).collect::<Vec<_>>());
    assert_eq!(all.values[..10_000], committed.values);
    assert!(!index.is_broken());
    drop((source, index));
    let index = open(folder.path());
    assert_eq!(read(&index, 0..=i64::MAX, usize::MAX, false), committed);
}
