//! Followers of growing files compared with reading the whole file at once.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use trainscope_format::{Checkpoint, Damage, Format, Record, RecordBatch, TagInfo};

use super::{Block, Buffers, Feeds, Follower, Tail};
use crate::discovery::file::OpenFile;
use crate::discovery::find::find;
use crate::discovery::runs::EventSource;
use crate::ingest::{IngestSettings, Ingester};

/// An event file with scalars, statistics and text.
fn sample() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-runs/candle");
    fs::read(folder.join("events.out.tfevents.1790010000.sample.4711.0")).unwrap()
}

/// An event file in a separate folder.
struct Growing {
    dir: tempfile::TempDir,
    path: Arc<Path>,
}

impl Growing {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        let path: PathBuf = folder.join("events.out.tfevents.1.host");
        File::create(&path).unwrap();
        let path = path.into();
        Self { dir, path }
    }

    fn append(&self, bytes: &[u8]) {
        let mut file = File::options().append(true).open(&self.path).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn walk(&self) -> EventSource {
        let mut runs = find(self.path.parent().unwrap(), 1).unwrap().runs;
        runs.remove(0).ranks[&0].events[0].clone()
    }
}

/// The tail of the index, without an index.
#[derive(Default)]
struct IndexTail {
    tail: Option<Tail>,
    checkpoint: Checkpoint,
}

impl IndexTail {
    /// Decodes all new bytes and hands the blocks on.
    fn turn(&mut self, file: &Growing, feeds: &Feeds) {
        let opened = OpenFile::open(&file.path).unwrap();
        let from = self.checkpoint.clone();
        let tail = self
            .tail
            .get_or_insert_with(|| Tail::new(Format::Tfevents, &file.path, from));
        loop {
            let mut block = Block::default();
            if !tail
                .fill(&opened, u64::MAX, &mut Vec::new(), &mut block)
                .unwrap()
            {
                return;
            }
            self.checkpoint.offset = block.offset;
            self.checkpoint.state.clone_from(&block.decoder);
            self.checkpoint
                .tags
                .extend_from_slice(&block.batch.new_tags);
            feeds.push(&file.path, &Arc::new(block));
        }
    }
}

/// Everything that a file holds.
#[derive(Debug, Default, PartialEq)]
struct Content {
    tags: Vec<TagInfo>,
    scalars: Vec<(u32, i64, u64)>,
    records: Vec<Record>,
    damages: Vec<Damage>,
}

impl Content {
    fn add(&mut self, batch: &RecordBatch) {
        self.tags.extend_from_slice(&batch.new_tags);
        let scalars = &batch.scalars;
        let values = scalars.values.iter().map(|value| value.to_bits());
        let points = scalars.tags.iter().zip(&scalars.steps).zip(values);
        self.scalars
            .extend(points.map(|((tag, step), value)| (tag.0, *step, value)));
        self.records.extend_from_slice(&batch.records);
        self.damages.extend_from_slice(&batch.damages);
    }

    /// Adds all blocks that are there.
    fn read(&mut self, follower: &mut Follower) {
        let mut buffers = Buffers::default();
        while let Some(block) = follower.next(&mut buffers) {
            self.add(&block.batch);
            buffers.reuse(block);
        }
    }
}

#[derive(Clone, Debug)]
enum Action {
    Append(usize),
    Index,
    /// The index reads on from its last checkpoint.
    IndexAnew,
    Follow,
    Walk,
    /// Room for waiting blocks.
    Room(u64),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (1..20_000_usize).prop_map(Action::Append),
        4 => Just(Action::Index),
        1 => Just(Action::IndexAnew),
        3 => Just(Action::Follow),
        1 => Just(Action::Walk),
        1 => prop_oneof![Just(0), Just(10_000), Just(1 << 20)].prop_map(Action::Room),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_follower_reads_each_record_once(
        actions in proptest::collection::vec(action(), 1..60),
        damaged_at in proptest::option::of(0..80_000_usize),
    ) {
        let mut bytes = sample();
        if let Some(at) = damaged_at {
            bytes[at] ^= 0xff;
        }
        let file = Growing::new();
        let feeds = Feeds::default();
        let mut index = IndexTail::default();
        let mut follower = Follower::new(&file.walk(), Some(&feeds));
        let mut content = Content::default();
        let mut rest = &bytes[..];
        for action in actions {
            match action {
                Action::Append(len) => {
                    let (next, after) = rest.split_at(len.min(rest.len()));
                    file.append(next);
                    rest = after;
                }
                Action::Index => index.turn(&file, &feeds),
                Action::IndexAnew => {
                    index.tail = None;
                    index.turn(&file, &feeds);
                }
                Action::Follow => content.read(&mut follower),
                Action::Walk => {
                    follower.expect(&file.walk());
                    content.read(&mut follower);
                }
                Action::Room(bytes) => drop(feeds.with_room(bytes)),
            }
        }
        file.append(rest);
        index.turn(&file, &feeds);
        content.read(&mut follower);
        prop_assert!(!follower.is_replaced);
        prop_assert_eq!(&follower.unreadable, &None);
        prop_assert_eq!(follower.fed_bytes, bytes.len() as u64);
        prop_assert_eq!(follower.tags(), &content.tags);
        let mut expected = Content::default();
        expected.read(&mut Follower::new(&file.walk(), None));
        prop_assert!(!expected.records.is_empty());
        prop_assert_eq!(content, expected);
    }
}

#[test]
fn blocks_of_the_index_need_no_file() {
    let bytes = sample();
    let (first, last) = bytes.split_at(bytes.len() / 2);
    let file = Growing::new();
    file.append(first);
    let feeds = Feeds::default();
    let mut index = IndexTail::default();
    index.turn(&file, &feeds);
    let mut follower = Follower::new(&file.walk(), Some(&feeds));
    let mut content = Content::default();
    content.read(&mut follower);
    file.append(last);
    index.turn(&file, &feeds);
    fs::remove_file(&file.path).unwrap();
    content.read(&mut follower);
    assert_eq!(follower.fed_bytes, bytes.len() as u64);
    assert!(!follower.is_replaced);
}

#[test]
fn another_file_of_the_same_path_is_noticed() {
    let mut bytes = sample();
    let len = bytes.len();
    let begin = |bytes: &[u8]| {
        let file = Growing::new();
        file.append(bytes);
        let feeds = Feeds::default();
        let mut follower = Follower::new(&file.walk(), Some(&feeds));
        Content::default().read(&mut follower);
        assert_eq!(follower.fed_bytes, bytes.len() as u64);
        (file, feeds, follower)
    };
    // Truncated: the next walk sees it.
    let (file, _feeds, mut follower) = begin(&bytes);
    File::create(&file.path)
        .unwrap()
        .write_all(&bytes[..len / 2])
        .unwrap();
    follower.expect(&file.walk());
    Content::default().read(&mut follower);
    assert!(follower.is_replaced);

    // Written again in place with other content: its blocks show that long before they reach the old length, and so
    // does a check after they were dropped.
    for room in [1 << 20, 0] {
        let (file, feeds, mut follower) = begin(&bytes[..len / 2]);
        bytes[20] ^= 0xff;
        File::create(&file.path).unwrap().write_all(&bytes).unwrap();
        feeds.with_room(room);
        IndexTail::default().turn(&file, &feeds);
        Content::default().read(&mut follower);
        assert!(follower.is_replaced, "{room}");
    }
    // Removed.
    let (file, feeds, mut follower) = begin(&bytes[..len / 2]);
    feeds.with_room(0);
    file.append(&bytes[len / 2..]);
    IndexTail::default().turn(&file, &feeds);
    fs::remove_file(&file.path).unwrap();
    Content::default().read(&mut follower);
    assert!(follower.is_replaced);
}

#[test]
fn a_follower_that_takes_nothing_does_not_hold_the_index_up() {
    let bytes = sample();
    let file = Growing::new();
    let cache = tempfile::tempdir().unwrap();
    let (ingester, index) = Ingester::start(IngestSettings {
        base_dirs: vec![file.dir.path().canonicalize().unwrap()],
        cache_dir: cache.path().to_owned(),
        reload_interval: Duration::from_millis(5),
        file_events: false,
    })
    .unwrap();
    let feeds = ingester.feeds().with_room(20_000);
    let mut slow = Follower::new(&file.walk(), Some(&feeds));
    let mut content = Content::default();
    let parts = bytes.chunks(bytes.len() / 20);
    let mut len_bytes = 0;
    for part in parts {
        file.append(part);
        len_bytes += part.len() as u64;
        let begun = std::time::Instant::now();
        while index.ingest().bytes < len_bytes || !index.ingest().idle {
            assert!(begun.elapsed() < Duration::from_mins(1));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(feeds.waiting_bytes() <= 20_000);
    }
    content.read(&mut slow);
    let mut expected = Content::default();
    expected.read(&mut Follower::new(&file.walk(), None));
    assert_eq!(content, expected);
    drop(slow);
    assert_eq!(feeds.waiting_bytes(), 0);
    ingester.stop();
}
