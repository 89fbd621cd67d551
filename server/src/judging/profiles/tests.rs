//! Runs of profilers judged with their files, as `check` does it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use trainscope_analysis::trace::advice::Rule;
use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_api::findings::Verdict;
use trainscope_format::Severity;

use crate::discovery::find::find;
use crate::files;
use crate::judging::judge::{Judgement, judge};

/// A run with the files of a fixture, those of `MindSpore` unpacked.
fn run_of(fixture: &str) -> TempDir {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profile");
    let run = TempDir::new().unwrap();
    for entry in fs::read_dir(fixtures.join(fixture)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        match name.strip_suffix(".gz") {
            Some(plain) if !name.ends_with(".pt.trace.json.gz") => {
                let mut bytes = Vec::new();
                let packed = files::open(&path).unwrap();
                files::unpacked(packed)
                    .unwrap()
                    .read_to_end(&mut bytes)
                    .unwrap();
                fs::write(run.path().join(plain), bytes).unwrap();
            }
            _ => {
                fs::copy(&path, run.path().join(name)).unwrap();
            }
        }
    }
    run
}

fn judged(folder: &Path, watchpoints: &Watchpoints) -> Judgement {
    let folder = folder.canonicalize().unwrap();
    let run = find(&folder, 1).unwrap().runs.remove(0);
    judge(&run, watchpoints, 1, |_| {})
}

/// Warnings and errors: condition and severity.
fn alarms(judged: &Judgement) -> Vec<(&str, Severity)> {
    let hits = judged.findings.hits.iter();
    let alarms = hits.filter(|hit| hit.severity >= Severity::Warning);
    alarms.map(|hit| (hit.condition.id, hit.severity)).collect()
}

/// Profiles of fewer than five whole steps: rules that compare steps are not judged.
const SHORT: [&str; 2] = ["torch-cnn", "torch-transformer"];

#[test]
fn a_training_that_waits_for_its_data_is_a_hit_and_others_are_none() {
    for (fixture, expected) in [
        ("ms20-lenet", None),
        ("ms210-lenet", None),
        (
            "ms20-slow-data",
            Some((Rule::DataBound.name(), Severity::Warning)),
        ),
        (
            "ms210-slow-data",
            Some((Rule::DataBound.name(), Severity::Error)),
        ),
        ("torch-cnn", None),
        ("torch-transformer", None),
        ("generated", None),
    ] {
        let run = run_of(fixture);
        let judged = judged(run.path(), &Watchpoints::recommended());
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(alarms(&judged), expected, "{fixture}");
        let is_short = SHORT.contains(&fixture);
        assert_eq!(judged.findings.judged.profiles, 1, "{fixture}");
        // Nothing unjudged counts as passed.
        let verdict = judged.findings.verdict();
        assert!(!is_short || verdict == Verdict::InPart, "{verdict:?}");
        assert_eq!(judged.damaged, [], "{fixture}");
    }
}

#[test]
fn a_profile_that_cannot_be_read_has_not_passed() {
    let run = TempDir::new().unwrap();
    // The magic number of gzip, and nothing that could be unpacked.
    fs::write(
        run.path().join("rank_0.pt.trace.json.gz"),
        b"\x1f\x8b\x08rest",
    )
    .unwrap();
    let judged = judged(run.path(), &Watchpoints::recommended());
    assert_eq!(judged.findings.verdict(), Verdict::Nothing);
    assert!(!judged.findings.inconclusive.is_empty());
    assert_eq!(judged.damaged.len(), 1);
}

#[test]
fn what_could_not_be_read_of_a_profile_is_damage() {
    let slice = |ts: u64| {
        format!(r#"{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{ts},"dur":5}}"#)
    };
    let whole = format!(r#"{{"traceEvents":[{},{}]}}"#, slice(1), slice(10));
    let cut = whole[..whole.len() - 4].to_owned();
    let zeros = format!("{}{}", &whole[..whole.len() - 2], "\0".repeat(1_000));
    let wrong = whole.replace(r#""ts":10"#, r#""ts":"late""#);
    for (text, offset) in [
        (&whole, None),
        (&cut, Some(cut.len())),
        (&zeros, Some(whole.len() - 2)),
        (&wrong, wrong.rfind("{\"ph")),
    ] {
        let run = TempDir::new().unwrap();
        fs::write(run.path().join("rank_0.pt.trace.json"), text).unwrap();
        let judged = judged(run.path(), &Watchpoints::recommended());
        let offsets = judged.damaged.iter().map(|damage| damage.offset);
        let offsets: Vec<u64> = offsets.collect();
        let expected: Vec<u64> = offset.into_iter().map(|offset| offset as u64).collect();
        assert_eq!(offsets, expected, "{text}");
    }
}

#[test]
fn a_packed_profile_beyond_the_limit_is_damage_by_its_name() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let event = r#"{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":5}"#;
    let spaces = " ".repeat(32 << 20);
    write!(packed, r#"{{"traceEvents":[{event}{spaces}]}}"#).unwrap();
    let run = TempDir::new().unwrap();
    let name = "rank_0.pt.trace.json.gz";
    fs::write(run.path().join(name), packed.finish().unwrap()).unwrap();
    let judged = judged(run.path(), &Watchpoints::recommended());
    let reasons: Vec<&str> = judged
        .damaged
        .iter()
        .map(|damage| &*damage.reason)
        .collect();
    let [reason] = reasons[..] else {
        panic!("{reasons:?}");
    };
    let limit = format!("{name} unpacks to more than 1,000 times its size");
    assert!(reason.starts_with(&limit), "{reason}");
    assert!(!reason.contains("complete"), "{reason}");
}

#[test]
fn profiles_are_read_for_watchpoints_about_them_only() {
    let run = TempDir::new().unwrap();
    fs::write(
        run.path().join("rank_0.pt.trace.json.gz"),
        b"\x1f\x8b\x08rest",
    )
    .unwrap();
    let judged = judged(run.path(), &Watchpoints::none());
    assert_eq!(judged.damaged, []);
}
