//! Numbers about the process, with the names that every Prometheus client library gives them. Read from `/proc`; left
//! out on systems without it.

use std::path::Path;

use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use crate::files;

/// Maximum length of a file in `/proc` that is read here: one line.
const MAX_BYTES: u64 = 4_096;
/// Maximum number of descriptors that are counted.
const MAX_DESCRIPTORS: usize = 1 << 20;

/// Registers what is known; `started_secs` is the time of the start, seconds since 1970.
pub(super) fn register(registry: &mut Registry, started_secs: f64) {
    registry.register_with_unit(
        "process_start_time",
        "Start of the server, since 1970",
        Unit::Seconds,
        ConstGauge::new(started_secs),
    );
    if let Some(secs) = cpu_secs() {
        registry.register_with_unit(
            "process_cpu",
            "Processor time of user and system",
            Unit::Seconds,
            ConstCounter::new(secs),
        );
    }
    if let Some(bytes) = resident_bytes() {
        registry.register_with_unit(
            "process_resident_memory",
            "Memory in RAM",
            Unit::Bytes,
            ConstGauge::new(bytes),
        );
    }
    let open = files::entries(Path::new("/proc/self/fd"), MAX_DESCRIPTORS);
    if !open.is_empty() {
        let count = i64::try_from(open.len()).unwrap_or(i64::MAX);
        registry.register(
            "process_open_fds",
            "Open file descriptors",
            ConstGauge::new(count),
        );
    }
}

/// Processor time of this process: fields 14 and 15 of `stat`, in clock ticks (proc(5)).
fn cpu_secs() -> Option<f64> {
    let stat = files::read_text(Path::new("/proc/self/stat"), MAX_BYTES).ok()?;
    // The name of the program, field 2, may hold spaces and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / rustix::param::clock_ticks_per_second() as f64)
}

/// Memory in RAM, bytes: field 2 of `statm`, in pages.
fn resident_bytes() -> Option<f64> {
    let statm = files::read_text(Path::new("/proc/self/statm"), MAX_BYTES).ok()?;
    let pages: f64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as f64)
}
