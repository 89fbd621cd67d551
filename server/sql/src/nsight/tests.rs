//! Reports with changed bytes, and with any tables and cells.

use super::*;

mod made;

/// Pseudo-random numbers below `limit` (Knuth's linear congruential generator).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A report with some bytes changed, one page copied over another, or a part cut away.
fn changed(whole: &[u8], random: &mut Random) -> Vec<u8> {
    const PAGE: usize = 4_096;
    let mut bytes = whole.to_vec();
    match random.below(4) {
        0 => bytes.truncate(random.below(whole.len())),
        1 => {
            let pages = whole.len() / PAGE;
            let (from, to) = (random.below(pages) * PAGE, random.below(pages) * PAGE);
            bytes.copy_within(from..from + PAGE, to);
        }
        _ => {
            for _ in 0..=random.below(20) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
    }
    bytes
}

#[test]
fn changed_reports_are_refused_or_are_whole_json() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/profile/nsight/report.sqlite");
    let whole = std::fs::read(fixture).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.sqlite");
    let mut random = Random(20_261_129);
    let mut are_read = 0;
    for number in 0..400 {
        std::fs::write(&path, changed(&whole, &mut random)).unwrap();
        let mut json = Vec::new();
        if read(&path, &mut |block| json.extend_from_slice(block)).is_ok() {
            let trace: Result<Value, _> = serde_json::from_slice(&json);
            assert!(trace.is_ok(), "change {number}: {trace:?}");
            are_read += 1;
        }
    }
    assert!(
        (100..400).contains(&are_read),
        "{are_read} of 400 were read"
    );
}

#[test]
fn any_tables_and_cells_give_whole_json() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(20_261_130);
    let (mut are_read, mut have_events) = (0, 0);
    for number in 0..300 {
        let path = folder.path().join(format!("{number}.sqlite"));
        let length = random.below(2_000);
        let choices = (0..length).map(|_| random.below(256).to_le_bytes()[0]);
        made::write(&path, &choices.collect::<Vec<u8>>()).unwrap();
        let mut json = Vec::new();
        if read(&path, &mut |block| json.extend_from_slice(block)).is_ok() {
            let trace: Result<Value, _> = serde_json::from_slice(&json);
            let trace = trace.unwrap_or_else(|error| panic!("database {number}: {error}"));
            are_read += 1;
            let events = trace["traceEvents"].as_array().unwrap();
            have_events += u32::from(!events.is_empty());
        }
    }
    assert!(
        are_read > 200 && have_events > 100,
        "{are_read} {have_events}"
    );
}
