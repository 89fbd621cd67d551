//! Column files and parts: stored data reads back equal, and damage only means reading the source again.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use tempfile::TempDir;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::levels::Levels;
use trainscope_analysis::trace::outline::Outline;
use trainscope_analysis::trace::{lanes, steps::StepRange, summary::summary};
use trainscope_api::profile::{ProfileEntry, ProfileState, SessionSummary};
use trainscope_api::timeline::TimelineLanes;
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::TextId;

use super::cache::ColumnCache;
use super::columns::{ColumnFile, ColumnWriter, FileStamp, Part, StoredTrace, StoredTraceRef};
use super::loaded::LoadedProfile;
use super::progress::Progress;
use super::read::{read_files, stored};
use super::sessions::SessionFiles;
use super::{MIN_PART_BYTES, Profiles, Slot, files};
use crate::index::Index;

const SMALL: &str = "generated/steps4-layers2.pt.trace.json.gz";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profile")
}

/// A copy of a test file that may be changed, and its session.
fn copied(folder: &TempDir, name: &str) -> SessionFiles {
    let path = folder.path().join(Path::new(name).file_name().unwrap());
    fs::copy(fixtures().join(name), &path).unwrap();
    let is_old = SystemTime::now() - Duration::from_mins(1);
    let file = File::options().append(true).open(&path).unwrap();
    file.set_modified(is_old).unwrap();
    SessionFiles::of_file(&path)
}

fn cache(folder: &TempDir, max_bytes: u64) -> ColumnCache {
    ColumnCache::in_folder(folder.path().join("profiles"), max_bytes, 0)
}

/// Reads a session, and writes its column file.
fn written(cache: &ColumnCache, session: &SessionFiles) -> (LoadedProfile, PathBuf) {
    let loaded = read_files(session, &Progress::default());
    let (path, sources) = cache.place(session).unwrap();
    cache.write(&loaded, &path, &sources).unwrap();
    (loaded, path)
}

fn unpacked(session: &SessionFiles) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = files::open(&session.files[0].full).unwrap();
    files::unpacked(file)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

#[test]
fn a_model_of_columns_is_the_model_of_the_source() {
    let folder = TempDir::new().unwrap();
    let cache = cache(&folder, u64::MAX);
    for name in [
        SMALL,
        "generated/steps8-healthy.pt.trace.json.gz",
        "ranks/host_rank2.1795213256000000002.pt.trace.json.gz",
        "torch-transformer/stack.pt.trace.json.gz",
        "torch-transformer/tb.pt.trace.json.gz",
        "torch-transformer/plain.pt.trace.json.gz",
        "torch-cnn/stack.pt.trace.json.gz",
        "torch-cnn/tb.pt.trace.json.gz",
        "torch-cnn/plain.pt.trace.json.gz",
    ] {
        let session = copied(&folder, name);
        let (loaded, _) = written(&cache, &session);
        assert!(loaded.model.trace.is_sound(), "{name}");
        let back = stored(&session, &cache).unwrap();
        assert!(loaded.model == back.model, "{name}");
        assert_eq!(loaded.summary(), back.summary(), "{name}");
        assert_eq!(loaded.state(), back.state(), "{name}");
        assert_eq!(loaded.faults(), back.faults(), "{name}");
        assert_eq!(Some(loaded.entry()), cache.entry(&session), "{name}");
        assert_eq!(Some(loaded.lanes()), cache.lanes(&session), "{name}");
        let outline = Outline::new(&loaded.model, loaded.levels());
        assert_eq!(outline, cache.outline(&session), "{name}");
    }
}

#[test]
fn the_text_of_a_packed_source_is_read_from_any_place() {
    let folder = TempDir::new().unwrap();
    let cache = cache(&folder, u64::MAX);
    let session = copied(&folder, SMALL);
    written(&cache, &session);
    let text = unpacked(&session);
    for place in [
        0,
        1,
        65_535,
        65_536,
        100_000,
        text.len() - 1,
        text.len(),
        text.len() + 9,
    ] {
        let behind = text.get(place..).unwrap_or_default();
        for len in [0, 1, 70_000, 1 << 20] {
            let read = cache.text(&session, place as u64, len).unwrap();
            assert!(read == behind[..len.min(behind.len())], "{place} {len}");
        }
    }
}

#[test]
fn a_source_that_changed_or_is_gone_has_no_columns() {
    let folder = TempDir::new().unwrap();
    let cache = cache(&folder, u64::MAX);
    let session = copied(&folder, SMALL);
    let source = session.files[0].full.clone();
    let (_, path) = written(&cache, &session);
    assert!(cache.entry(&session).is_some() && path.exists());
    let file = File::options().append(true).open(&source).unwrap();
    file.set_modified(SystemTime::now()).unwrap();
    assert!(cache.entry(&session).is_none());
    cache.tidy();
    assert!(!path.exists(), "the source was changed");
    let (_, path) = written(&cache, &session);
    cache.tidy();
    assert!(path.exists());
    fs::remove_file(&source).unwrap();
    assert!(cache.entry(&session).is_none());
    cache.tidy();
    assert!(!path.exists(), "the source is gone");
}

/// All content of a column file; `None` if it is damaged.
type Content = (
    ProfileEntry,
    TimelineLanes,
    SessionSummary,
    Option<Outline>,
    StoredTrace,
    Option<Vec<u8>>,
);

fn content(path: &Path) -> std::io::Result<Content> {
    let file = ColumnFile::open(path)?;
    Ok((
        file.json(Part::Entry)?,
        file.json(Part::Lanes)?,
        file.json(Part::Summary)?,
        file.value(Part::Outline)?,
        file.trace()?,
        file.text(0, 1 << 20)?,
    ))
}

#[test]
fn every_damage_is_an_error() {
    let folder = TempDir::new().unwrap();
    let cache = cache(&folder, u64::MAX);
    let session = copied(&folder, SMALL);
    let (_, path) = written(&cache, &session);
    let whole = fs::read(&path).unwrap();
    let original = content(&path).unwrap();
    let place = folder.path().join("damaged");
    let last = whole.len();
    let places = (0..24)
        .chain((24..last - 600).step_by(9_973))
        .chain(last - 600..last);
    for at in places {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(&place, &bytes).unwrap();
        // A damaged byte of the text beyond the read part is harmless.
        if let Ok(read) = content(&place) {
            assert!(read == original, "{at}");
            assert!((24..last - 600).contains(&at), "{at}");
        }
    }
    for len in (0..last).step_by(4_999).chain(last - 30..last) {
        fs::write(&place, &whole[..len]).unwrap();
        assert!(content(&place).is_err(), "{len}");
    }
    // The cache removes an unreadable file, and has no answer.
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(100)).unwrap();
    file.write_all(b"damage").unwrap();
    assert!(cache.entry(&session).is_none() && !path.exists());
}

#[test]
fn another_version_is_not_read() {
    let folder = TempDir::new().unwrap();
    let cache = cache(&folder, u64::MAX);
    let session = copied(&folder, SMALL);
    let (_, path) = written(&cache, &session);
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(22)).unwrap();
    file.write_all(b"9").unwrap();
    assert!(stored(&session, &cache).is_none() && !path.exists());
}

#[test]
fn files_that_were_never_completed_are_ignored_and_removed_later() {
    let folder = TempDir::new().unwrap();
    let cache = cache(&folder, u64::MAX);
    let session = copied(&folder, SMALL);
    let (_, path) = written(&cache, &session);
    let half = &fs::read(&path).unwrap()[..5_000];
    let [new, old] = [".writing-a", ".writing-b"].map(|name| path.with_file_name(name));
    for partial in [&new, &old] {
        fs::write(partial, half).unwrap();
    }
    let file = File::options().append(true).open(&old).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(2))
        .unwrap();
    cache.tidy();
    assert!(path.exists() && new.exists() && !old.exists());
}

#[test]
fn the_files_that_were_not_used_for_longest_make_room() {
    let folder = TempDir::new().unwrap();
    let all = cache(&folder, u64::MAX);
    let sessions = [
        SMALL,
        "torch-cnn/tb.pt.trace.json.gz",
        "torch-transformer/plain.pt.trace.json.gz",
    ];
    let sessions = sessions.map(|name| copied(&folder, name));
    let paths = sessions.each_ref().map(|session| written(&all, session).1);
    for (path, age) in paths.iter().zip([30, 20, 10]) {
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age))
            .unwrap();
    }
    // The oldest one is used now.
    assert!(stored(&sessions[0], &all).is_some());
    let len = |path: &PathBuf| fs::metadata(path).unwrap().len();
    cache(&folder, len(&paths[0]) + len(&paths[2])).tidy();
    assert!(paths[0].exists() && !paths[1].exists() && paths[2].exists());
    let none = cache(&folder, len(&paths[0]) - 1);
    none.tidy();
    assert!(!paths[0].exists());
    let (_, path) = written(&none, &sessions[0]);
    assert!(!path.exists(), "larger than everything that is allowed");
}

#[test]
fn a_folder_or_a_disk_that_takes_nothing_is_an_error_and_no_more() {
    let folder = TempDir::new().unwrap();
    let session = copied(&folder, SMALL);
    let loaded = read_files(&session, &Progress::default());
    fs::write(folder.path().join("profiles"), b"a file").unwrap();
    let cache = cache(&folder, u64::MAX);
    let (path, sources) = cache.place(&session).unwrap();
    assert!(cache.write(&loaded, &path, &sources).is_err());
    assert!(stored(&session, &cache).is_none());
    cache.tidy();
    // A device that is always full.
    if let Ok(full) = File::options().write(true).open("/dev/full") {
        let mut writer = ColumnWriter::new(full, Vec::new()).unwrap();
        let trace = &loaded.model.trace;
        let numbers = loaded.model.numbers();
        let value = StoredTraceRef {
            faults: &[],
            numbers,
            trace,
        };
        assert!(writer.value(&value).and_then(|()| writer.finish()).is_err());
    }
}

#[test]
fn a_trace_that_points_to_nothing_is_refused() {
    let folder = TempDir::new().unwrap();
    let session = copied(&folder, SMALL);
    let sources: Vec<FileStamp> = session.stamps().unwrap();
    let whole = read_files(&session, &Progress::default()).model.trace;
    let path = folder.path().join("made");
    let is_read = |trace: &trainscope_format::trace::Trace| {
        let mut writer = ColumnWriter::new(File::create(&path).unwrap(), sources.clone()).unwrap();
        for _ in [Part::Entry, Part::Lanes, Part::Summary, Part::Outline] {
            writer.value(&0).unwrap();
        }
        writer
            .value(&StoredTraceRef {
                faults: &[],
                numbers: &[],
                trace,
            })
            .unwrap();
        writer.finish().unwrap();
        ColumnFile::open(&path).unwrap().trace().is_ok()
    };
    assert!(is_read(&whole));
    let changes: [fn(&mut trainscope_format::trace::Trace); 6] = [
        |trace| trace.slices.names[5] = TextId(u32::MAX),
        |trace| trace.slices.lanes[5] = 999,
        |trace| trace.slices.details[5] = 1 << 30,
        |trace| trace.flows[0].to = 1 << 30,
        |trace| trace.slices.places.truncate(3),
        |trace| trace.memory[0].lane = 999,
    ];
    for change in changes {
        let mut trace = whole.clone();
        change(&mut trace);
        assert!(!is_read(&trace));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checksums detect accidents; a forged file has right ones.
    #[test]
    fn bytes_with_right_checksums_that_are_no_trace_do_no_harm(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let bytes = fs::read(fixtures().join("torch-cnn/tb.pt.trace.json.gz")).unwrap();
        let mut reader = TraceReader::new();
        let mut text = Vec::new();
        files::unpacked(&bytes[..]).unwrap().read_to_end(&mut text).unwrap();
        reader.push(&text);
        let model = Model::new(reader.finish());
        let value = StoredTraceRef { faults: &[], numbers: model.numbers(), trace: &model.trace };
        let mut bytes = postcard::to_allocvec(&value).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(stored) = postcard::from_bytes::<StoredTrace>(&bytes)
            && stored.trace.is_sound()
            && let Some(model) = Model::of_sorted(stored.trace, stored.numbers)
        {
            let levels = Levels::new(&model);
            lanes::lanes(&model, &levels);
            summary(&model, StepRange::default(), 400);
            Outline::new(&model, &levels);
        }
    }
}

#[test]
fn a_part_has_the_numbers_of_the_whole() {
    let folder = TempDir::new().unwrap();
    let session = copied(&folder, "torch-transformer/stack.pt.trace.json.gz");
    let text = unpacked(&session);
    let mut reader = TraceReader::new();
    let mut parts = Vec::new();
    for block in text.chunks(text.len() / 7) {
        reader.push(block);
        parts.push(Model::new(reader.part()));
    }
    let whole = Model::new(reader.finish());
    assert!(*parts.last().unwrap() == whole);
    for part in &parts {
        let slices = &part.trace.slices;
        for number in part.slices() {
            let [partial, other] = [part, &whole].map(|model| {
                let slice = model.numbered(number).unwrap();
                let slices = &model.trace.slices;
                let at = slice as usize;
                (
                    slices.places[at],
                    slices.begins[at],
                    slices.names[at],
                    slices.lanes[at],
                )
            });
            assert_eq!(partial, other);
        }
        assert!(!slices.is_empty());
    }
}

#[test]
fn a_new_part_is_made_when_four_times_as_much_was_read_up_to_a_third() {
    let folder = TempDir::new().unwrap();
    let mut session = copied(&folder, SMALL);
    let text = unpacked(&session);
    session.len_bytes = text.len() as u64;
    let slot = Slot::new(session.key());
    assert!(slot.part(&session).is_none(), "nothing was read");
    let read = |bytes: &[u8]| {
        slot.progress.add(bytes.len() as u64);
        slot.progress.push(bytes);
    };
    let (first, rest) = text.split_at(text.len() / 20);
    read(first);
    let part = slot.part(&session).unwrap();
    assert_eq!(part.state(), ProfileState::Reading);
    assert_eq!(part.lanes().state, ProfileState::Reading);
    assert_eq!(part.lanes().read_bytes, first.len() as u64);
    assert!(part.lanes().events > 0);
    let (little, rest) = rest.split_at(2 * first.len());
    read(little);
    assert!(Arc::ptr_eq(&part, &slot.part(&session).unwrap()));
    let (more, rest) = rest.split_at(first.len() + 9);
    read(more);
    let next = slot.part(&session).unwrap();
    assert!(next.lanes().events > part.lanes().events);
    assert!(next.lanes().read_bytes < text.len() as u64 / 3);
    read(rest);
    assert!(
        Arc::ptr_eq(&next, &slot.part(&session).unwrap()),
        "the whole is there soon"
    );
}

#[test]
fn a_request_gets_a_part_while_a_thread_reads_and_the_whole_then() {
    let folder = TempDir::new().unwrap();
    let mut session = copied(&folder, SMALL);
    session.len_bytes = MIN_PART_BYTES;
    let index = Index::open(&folder.path().join("cache"), &[folder.path().to_owned()]).unwrap();
    let profiles = Profiles::new(&index);
    let slot = profiles.slot(session.key());
    let text = unpacked(&session);
    slot.progress.push(&text[..text.len() / 2]);
    let (release, wait) = mpsc::channel::<()>();
    let (reader, same) = (profiles.clone(), session.clone());
    let thread = std::thread::spawn(move || {
        assert!(
            wait.recv().is_err(),
            "the reader goes on when the other end is dropped"
        );
        reader.load(&same);
    });
    *slot.thread.lock() = Some(thread);
    let part = profiles.so_far(&session);
    assert_eq!(part.state(), ProfileState::Reading);
    drop(release);
    let thread = slot.thread.lock().take().unwrap();
    thread.join().unwrap();
    let whole = profiles.so_far(&session);
    assert_eq!(whole.state(), ProfileState::Whole);
    assert!(whole.lanes().events > part.lanes().events && part.lanes().events > 0);
    assert!(slot.part.lock().is_none(), "the part is not kept");
}

#[test]
fn operators_of_the_user_are_counted_by_their_rules() {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    fs::create_dir_all(&run).unwrap();
    let trace = run.join("a.pt.trace.json");
    let text = r#"{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"own::gemm","pid":1,"tid":1,"ts":0,"dur":9,"args":{"Input Dims":[[8,16],[16,4]],"Input type":["float","float"]}}]}"#;
    fs::write(&trace, text).unwrap();
    let session = SessionFiles::of_file(&trace);
    let index = Index::open(&folder.path().join("cache"), &[folder.path().to_owned()]).unwrap();
    let profiles = Profiles::new(&index);
    let flops = || {
        profiles
            .load(&session)
            .summary()
            .flops
            .values()
            .sum::<u64>()
    };
    assert_eq!(flops(), 0);
    let beside = folder.path().join(".trainscope");
    fs::create_dir_all(&beside).unwrap();
    let rules = beside.join("operators.toml");
    fs::write(
        &rules,
        "[[operator]]\nname = 'own::gemm'\nproduct = [0, 1]\n",
    )
    .unwrap();
    assert_eq!(flops(), 2 * 8 * 16 * 4, "the profile is read again");
    fs::write(&rules, "[[operator]]\nname = 'own::gemm'\n").unwrap();
    let loaded = profiles.load(&session);
    assert_eq!(loaded.summary().flops.values().sum::<u64>(), 0);
    let faults = loaded.faults();
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("operators.toml is not used: `own::gemm` needs")),
        "{faults:?}"
    );
}

#[test]
fn a_session_that_no_page_asked_for_is_forgotten_after_it_was_judged() {
    let folder = TempDir::new().unwrap();
    let session = copied(&folder, SMALL);
    let index = Index::open(&folder.path().join("cache"), &[folder.path().to_owned()]).unwrap();
    let profiles = Profiles::new(&index);
    profiles.load(&session);
    profiles.release(&session);
    assert!(profiles.known(&session.key()).is_none());
    // A page asks for it while it is judged.
    let (judged, shown) = (profiles.load(&session), profiles.load(&session));
    assert!(Arc::ptr_eq(&judged, &shown), "it is read once");
    profiles.release(&session);
    assert!(profiles.known(&session.key()).is_some());
}
