//! Databases of Nsight Systems (`nsys export --type sqlite`), handed on as the events of Kineto: kernels, copies, calls
//! of CUDA and NVTX ranges have the same names, categories and arguments there.
//!
//! Tables and columns differ between versions: missing ones are left out. Source of tables and columns: *`SQLite`
//! Schema Reference* of the Nsight Systems user guide.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::query::MAX_MEMORY_BYTES;

/// Bytes of events that are handed on at a time.
const BLOCK_BYTES: usize = 1 << 20;
/// Maximum length of a text of a cell in bytes.
const MAX_CELL_BYTES: i32 = 16 << 20;
/// Maximum size of all texts together in bytes.
const MAX_TEXT_BYTES: usize = 256 << 20;
/// Maximum time of reading: a hostile schema may compute columns without end.
const PATIENCE: Duration = Duration::from_mins(10);

/// `NVTX_EVENTS.eventType`: an instant, a range of a thread, and one that may end on another thread.
const MARK: i64 = 34;
const RANGE: i64 = 59;
const OPEN_RANGE: i64 = 60;

/// Tables with records that no page shows, with the kind of these records.
const UNREAD: [(&str, &str); 6] = [
    ("OSRT_API", "calls of the operating system"),
    ("GPU_METRICS", "metrics of GPUs"),
    ("CUDNN_EVENTS", "calls of cuDNN"),
    ("CUBLAS_EVENTS", "calls of cuBLAS"),
    ("MPI_COLLECTIVES_EVENTS", "calls of MPI"),
    ("COMPOSITE_EVENTS", "samples of call stacks"),
];

/// Hands the rows of a table on.
type ReadTable = fn(&Report, &mut Events<'_>) -> rusqlite::Result<()>;

/// Reads a database; `push` takes its events as pieces of one JSON text. Returns remarks as sentences.
///
/// # Errors
///
/// A sentence if the file is not a database of Nsight Systems.
pub fn read(path: &Path, push: &mut dyn FnMut(&[u8])) -> Result<Vec<String>, String> {
    let report = Report::open(path)?;
    let mut events = Events::new(push);
    let mut remarks = Vec::new();
    report.head(&mut events);
    let parts: [(&str, ReadTable); 5] = [
        ("CUPTI_ACTIVITY_KIND_KERNEL", Report::kernels),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", Report::copies),
        ("CUPTI_ACTIVITY_KIND_MEMSET", Report::fills),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", Report::calls),
        ("NVTX_EVENTS", Report::ranges),
    ];
    for (table, read) in parts {
        if report.has(table)
            && let Err(error) = read(&report, &mut events)
        {
            remarks.push(format!(
                "{table} cannot be read to its end: {error}; the rows before are shown"
            ));
        }
    }
    report.threads(&mut events);
    let unread = UNREAD.iter().filter(|(table, _)| report.has_rows(table));
    let unread: Vec<&str> = unread.map(|(_, what)| *what).collect();
    if !unread.is_empty() {
        remarks.push(format!("not shown: {}", unread.join(", ")));
    }
    if report.is_cut {
        remarks
            .push("some texts are left out: all of them together have more than 256 MB".to_owned());
    }
    events.finish();
    Ok(remarks)
}

/// A database with the columns of its tables.
struct Report {
    connection: Connection,
    columns: BTreeMap<String, BTreeSet<String>>,
    texts: BTreeMap<i64, String>,
    is_cut: bool,
}

/// A row of the requested columns; NULL for those that the table lacks.
struct Row<'a>(&'a rusqlite::Row<'a>);

impl Row<'_> {
    fn int(&self, column: usize) -> Option<i64> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Integer(value)) => Some(value),
            _ => None,
        }
    }

    fn text(&self, column: usize) -> Option<&str> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Text(text)) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }
}

impl Report {
    fn open(path: &Path) -> Result<Self, String> {
        let failed = |error: rusqlite::Error| match error {
            rusqlite::Error::SqliteFailure(_, Some(message)) => message,
            other => other.to_string(),
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let mut connection = Connection::open_with_flags(address(path), flags).map_err(failed)?;
        // The file may be hostile: its schema is not trusted, and nothing is written next to it.
        connection
            .execute_batch(&format!(
                "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;
                 PRAGMA cell_size_check = ON; PRAGMA hard_heap_limit = {MAX_MEMORY_BYTES};"
            ))
            .and_then(|()| connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES))
            .map_err(failed)?;
        let columns = tables(&mut connection).map_err(failed)?;
        let mut report = Self {
            connection,
            columns,
            texts: BTreeMap::new(),
            is_cut: false,
        };
        if !report.has("StringIds") {
            return Err("it is a database, but not one of Nsight Systems".to_owned());
        }
        report.read_texts().map_err(failed)?;
        Ok(report)
    }

    fn read_texts(&mut self) -> rusqlite::Result<()> {
        let (mut texts, mut bytes) = (BTreeMap::new(), 0);
        self.rows("StringIds", ["id", "value"], |row| {
            if let (Some(id), Some(text)) = (row.int(0), row.text(1)) {
                bytes += text.len();
                if bytes <= MAX_TEXT_BYTES {
                    texts.insert(id, text.to_owned());
                }
            }
        })?;
        self.is_cut = bytes > MAX_TEXT_BYTES;
        self.texts = texts;
        Ok(())
    }

    fn has(&self, table: &str) -> bool {
        self.columns.contains_key(table)
    }

    fn has_rows(&self, table: &str) -> bool {
        let sql = format!("SELECT 1 FROM \"{table}\" LIMIT 1");
        self.has(table) && self.connection.query_row(&sql, [], |_| Ok(())).is_ok()
    }

    /// All rows of a table, if it exists.
    fn rows<const N: usize>(
        &self,
        table: &str,
        wanted: [&str; N],
        mut each: impl FnMut(&Row<'_>),
    ) -> rusqlite::Result<()> {
        let Some(there) = self.columns.get(table) else {
            return Ok(());
        };
        let columns = wanted.map(|column| {
            if there.contains(column) {
                format!("\"{column}\"")
            } else {
                "NULL".to_owned()
            }
        });
        let sql = format!("SELECT {} FROM \"{table}\"", columns.join(", "));
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            each(&Row(row));
        }
        Ok(())
    }

    fn name(&self, id: Option<i64>) -> Option<&str> {
        self.texts.get(&id?).map(String::as_str)
    }

    /// The keys that Kineto writes before its events.
    fn head(&self, events: &mut Events<'_>) {
        let mut devices = Vec::new();
        let gpus = ["id", "name", "totalMemory", "smCount", "computeMajor"];
        // Errors here leave something without a name.
        drop(self.rows("TARGET_INFO_GPU", gpus, |row| {
            devices.push(json!({
                "id": row.int(0).unwrap_or(0),
                "name": row.text(1).unwrap_or_default(),
                "totalGlobalMem": row.int(2).unwrap_or(0),
                "numSms": row.int(3).unwrap_or(0),
                "computeMajor": row.int(4).unwrap_or(0),
            }));
        }));
        let mut began = 0;
        drop(
            self.rows("TARGET_INFO_SESSION_START_TIME", ["utcEpochNs"], |row| {
                began = row.int(0).unwrap_or(0);
            }),
        );
        let head = json!({
            "schemaVersion": 1,
            "deviceProperties": devices,
            "baseTimeNanoseconds": began,
        });
        events.text.push_str(&head.to_string());
        events.text.pop();
        events.text.push_str(",\"traceEvents\":[");
    }

    fn kernels(&self, events: &mut Events<'_>) -> rusqlite::Result<()> {
        const COLUMNS: [&str; 7] = [
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "demangledName",
            "shortName",
        ];
        self.rows("CUPTI_ACTIVITY_KIND_KERNEL", COLUMNS, |row| {
            let name = self.name(row.int(5)).or_else(|| self.name(row.int(6)));
            events.device(row, "kernel", name.unwrap_or("kernel"), json!({}));
        })
    }

    fn copies(&self, events: &mut Events<'_>) -> rusqlite::Result<()> {
        const COLUMNS: [&str; 9] = [
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "copyKind",
            "srcKind",
            "dstKind",
            "bytes",
        ];
        self.rows("CUPTI_ACTIVITY_KIND_MEMCPY", COLUMNS, |row| {
            let name = copy_name(row.int(5), row.int(6), row.int(7));
            events.device(row, "gpu_memcpy", &name, json!({ "bytes": row.int(8) }));
        })
    }

    fn fills(&self, events: &mut Events<'_>) -> rusqlite::Result<()> {
        const COLUMNS: [&str; 6] = [
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "bytes",
        ];
        self.rows("CUPTI_ACTIVITY_KIND_MEMSET", COLUMNS, |row| {
            events.device(
                row,
                "gpu_memset",
                "Memset (Device)",
                json!({ "bytes": row.int(5) }),
            );
        })
    }

    fn calls(&self, events: &mut Events<'_>) -> rusqlite::Result<()> {
        const COLUMNS: [&str; 5] = ["start", "end", "globalTid", "correlationId", "nameId"];
        self.rows("CUPTI_ACTIVITY_KIND_RUNTIME", COLUMNS, |row| {
            let name = self.name(row.int(4)).map_or("call", unversioned);
            let category = if name.starts_with("cu") && !name.starts_with("cuda") {
                "cuda_driver"
            } else {
                "cuda_runtime"
            };
            let args = json!({ "correlation": row.int(3) });
            events.host(row, category, name, row.int(2), &args);
        })
    }

    fn ranges(&self, events: &mut Events<'_>) -> rusqlite::Result<()> {
        const COLUMNS: [&str; 7] = [
            "start",
            "end",
            "globalTid",
            "eventType",
            "text",
            "textId",
            "rangeId",
        ];
        self.rows("NVTX_EVENTS", COLUMNS, |row| {
            let name = row.text(4).or_else(|| self.name(row.int(5)));
            let Some(name) = name else {
                return;
            };
            match row.int(3) {
                Some(MARK) => events.mark(row, name, row.int(2)),
                Some(RANGE) | None => {
                    events.host(row, "user_annotation", name, row.int(2), &json!({}));
                }
                Some(OPEN_RANGE) => events.open_range(row, name, row.int(2), row.int(6)),
                // Names of domains and categories, and other bookkeeping.
                Some(_) => {}
            }
        })
    }

    /// Names of processes, threads and streams.
    fn threads(&self, events: &mut Events<'_>) {
        let mut names = BTreeMap::new();
        drop(self.rows("ThreadNames", ["globalTid", "nameId"], |row| {
            if let (Some(thread), Some(name)) = (row.int(0), self.name(row.int(1))) {
                names.insert(thread, name.to_owned());
            }
        }));
        let mut processes = BTreeMap::new();
        drop(self.rows("PROCESSES", ["globalPid", "name"], |row| {
            if let (Some(process), Some(name)) = (row.int(0), row.text(1)) {
                processes.insert(process_of(process), name.to_owned());
            }
        }));
        for thread in std::mem::take(&mut events.threads) {
            let (process, id) = (process_of(thread), thread & 0xff_ffff);
            let name = names.get(&thread).cloned();
            let name = name.unwrap_or_else(|| format!("thread {id}"));
            events.name("thread_name", process, Some(json!(id)), &name);
            let program = processes
                .get(&process)
                .map_or("", |name| name.rsplit('/').next().unwrap_or(name));
            events.name("process_name", process, None, program);
        }
        for (device, stream) in std::mem::take(&mut events.streams) {
            let name = format!("stream {stream}");
            events.label(device);
            events.name("thread_name", device, Some(json!(stream)), &name);
        }
    }
}

/// The address of a file that is only read: without `immutable`, `SQLite` writes files next to some databases.
fn address(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            _ => address.extend(['%', hex(byte >> 4), hex(byte & 15)]),
        }
    }
    address + "?immutable=1"
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0')
}

/// Tables, not views, with their columns.
fn tables(connection: &mut Connection) -> rusqlite::Result<BTreeMap<String, BTreeSet<String>>> {
    connection.progress_handler(1_000, {
        let begin = std::time::Instant::now();
        Some(move || begin.elapsed() >= PATIENCE)
    })?;
    let mut statement = connection.prepare(
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        let (table, column) = row?;
        tables.entry(table).or_default().insert(column);
    }
    Ok(tables)
}

/// A process in a number of Nsight: 8 bits of hardware, 8 of the virtual machine, 24 of the process, 24 of the thread.
const fn process_of(global: i64) -> i64 {
    (global >> 24) & 0xff_ffff
}

/// The name of a call without the version of its interface: `cudaLaunchKernel` of `cudaLaunchKernel_v7000`.
fn unversioned(name: &str) -> &str {
    let is_version =
        |version: &str| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let name = name
        .rsplit_once("_v")
        .filter(|(_, version)| is_version(version))
        .map_or(name, |(name, _)| name);
    name.strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
        .unwrap_or(name)
}

/// The name that Kineto gives to a copy; numbers are those of CUPTI.
fn copy_name(kind: Option<i64>, from: Option<i64>, to: Option<i64>) -> String {
    let way = match kind {
        Some(1) => "HtoD",
        Some(2) => "DtoH",
        Some(8) => "DtoD",
        Some(9) => "HtoH",
        Some(10) => "PtoP",
        _ => return "Memcpy".to_owned(),
    };
    let memory = |kind: Option<i64>| match kind {
        Some(0) => Some("Pageable"),
        Some(1) => Some("Pinned"),
        Some(2) => Some("Device"),
        Some(3) => Some("Array"),
        Some(4 | 5) => Some("Managed"),
        _ => None,
    };
    match (memory(from), memory(to)) {
        (Some(from), Some(to)) => format!("Memcpy {way} ({from} -> {to})"),
        _ => format!("Memcpy {way}"),
    }
}

/// Events as the text of a JSON file.
struct Events<'a> {
    text: String,
    push: &'a mut dyn FnMut(&[u8]),
    is_first: bool,
    threads: BTreeSet<i64>,
    streams: BTreeSet<(i64, i64)>,
}

impl<'a> Events<'a> {
    fn new(push: &'a mut dyn FnMut(&[u8])) -> Self {
        Self {
            text: String::new(),
            push,
            is_first: true,
            threads: BTreeSet::new(),
            streams: BTreeSet::new(),
        }
    }

    /// Appends an event. `times` are its begin and end in nanoseconds.
    fn event(&mut self, mut event: Value, begin: i64, end: Option<i64>) {
        // Microseconds with all digits of the nanoseconds.
        let micros = |nanos: i64| {
            let sign = if nanos < 0 { "-" } else { "" };
            let nanos = nanos.unsigned_abs();
            format!("{sign}{}.{:03}", nanos / 1_000, nanos % 1_000)
        };
        if let Some(event) = event.as_object_mut() {
            event.retain(|_, value| !value.is_null());
        }
        self.text.push_str(if self.is_first { "\n" } else { ",\n" });
        self.is_first = false;
        self.text.push_str(&event.to_string());
        self.text.pop();
        self.text.push_str(",\"ts\":");
        self.text.push_str(&micros(begin));
        if let Some(end) = end {
            self.text.push_str(",\"dur\":");
            self.text.push_str(&micros(end.saturating_sub(begin)));
        }
        self.text.push('}');
        if self.text.len() >= BLOCK_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        (self.push)(self.text.as_bytes());
        self.text.clear();
    }

    /// Work of a device, whose row begins with start, end, device, stream, correlation.
    fn device(&mut self, row: &Row<'_>, category: &str, name: &str, mut args: Value) {
        let (Some(begin), end) = (row.int(0), row.int(1)) else {
            return;
        };
        let (device, stream) = (row.int(2).unwrap_or(0), row.int(3).unwrap_or(0));
        self.streams.insert((device, stream));
        args["device"] = json!(device);
        args["stream"] = json!(stream);
        args["correlation"] = json!(row.int(4));
        if let Some(args) = args.as_object_mut() {
            args.retain(|_, value| !value.is_null());
        }
        let event = json!({
            "ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "args": args,
        });
        self.event(event, begin, Some(end.unwrap_or(begin)));
    }

    /// Work of a thread, whose row begins with start and end.
    fn host(
        &mut self,
        row: &Row<'_>,
        category: &str,
        name: &str,
        thread: Option<i64>,
        args: &Value,
    ) {
        let Some(begin) = row.int(0) else {
            return;
        };
        let thread = thread.unwrap_or(0);
        self.threads.insert(thread);
        let end = row.int(1);
        let event = json!({
            // A range that the recording cut has no end.
            "ph": if end.is_some() { "X" } else { "B" },
            "cat": category, "name": name,
            "pid": process_of(thread), "tid": thread & 0xff_ffff, "args": args,
        });
        self.event(event, begin, end);
    }

    fn mark(&mut self, row: &Row<'_>, name: &str, thread: Option<i64>) {
        if let Some(begin) = row.int(0) {
            let thread = thread.unwrap_or(0);
            let event = json!({
                "ph": "i", "s": "t", "name": name, "pid": process_of(thread), "tid": thread & 0xff_ffff,
            });
            self.event(event, begin, None);
        }
    }

    /// A range that may end on another thread: an asynchronous slice.
    fn open_range(&mut self, row: &Row<'_>, name: &str, thread: Option<i64>, id: Option<i64>) {
        let (Some(begin), Some(end)) = (row.int(0), row.int(1)) else {
            return;
        };
        let process = process_of(thread.unwrap_or(0));
        for (phase, time) in [("b", begin), ("e", end)] {
            let event = json!({
                "ph": phase, "cat": "nvtx", "id": id.unwrap_or(0), "name": name, "pid": process, "tid": 0,
            });
            self.event(event, time, None);
        }
    }

    fn name(&mut self, what: &str, process: i64, thread: Option<Value>, name: &str) {
        let event = json!({
            "ph": "M", "name": what, "pid": process, "tid": thread.unwrap_or(json!(0)), "args": { "name": name },
        });
        self.event(event, 0, None);
    }

    fn label(&mut self, device: i64) {
        let event = json!({
            "ph": "M", "name": "process_labels", "pid": device, "tid": 0, "args": { "labels": format!("GPU {device}") },
        });
        self.event(event, 0, None);
    }

    fn finish(mut self) {
        self.text.push_str("\n]}\n");
        self.flush();
    }
}

#[cfg(test)]
mod tests;
