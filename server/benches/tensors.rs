//! Benchmark of slices of a tensor of gigabytes: time, and bytes read from the file.
//!
//! `cargo bench -p trainscope --bench tensors -- --gigabytes 4`; without the argument the tensor is small, for runs
//! under test. The file is sparse: it takes no room, and nearly all elements are 0.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints, and has failed if it cannot go on"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use server::Server;

#[path = "support/server.rs"]
mod server;

/// Nothing is judged in the meantime: tensors are read for requests only.
const NO_TENSORS: &str = "[[watchpoint]]\ncondition = \"loss_nan\"\n";

fn main() {
    let mut arguments = std::env::args().skip_while(|word| word != "--gigabytes");
    let gigabytes: Option<u64> = arguments.nth(1).map(|n| n.parse().expect("a number"));
    let rounds = if gigabytes.is_some() { 51 } else { 3 };
    // Rows of 128 KiB.
    let (rows, columns) = (gigabytes.map_or(64, |n| n << 13), 1 << 15);
    let lab = tempfile::tempdir().expect("a temporary folder");
    let base = lab.path().join("base");
    write_matrix(&base.join("run/steps/1"), rows, columns);
    let watched = base.join(".trainscope");
    fs::create_dir_all(&watched).expect("a folder");
    fs::write(watched.join("watchpoints.toml"), NO_TENSORS).expect("the watchpoints");

    let server = Server::start(lab.path(), &base);
    let middle = rows / 2;
    for (what, slice) in [
        (
            "128 rows and columns",
            format!("{middle}:{}, 9000:9128", (middle + 128).min(rows)),
        ),
        ("the last row", "-1, :".to_owned()),
        ("a column, an element a row", ":, 12345".to_owned()),
    ] {
        let query = format!(
            "/api/tensor?run=run&tensor=weight&slice={}",
            slice.replace(' ', "")
        );
        let answer = server.wait(&query, |is_yes, _| is_yes);
        let read = answer["read_bytes"].as_u64().expect("a number");
        let mut all: Vec<Duration> = (0..rounds)
            .map(|_| {
                let began = Instant::now();
                assert!(server.get(&query).0, "{query} is not answered");
                began.elapsed()
            })
            .collect();
        all.sort_unstable();
        let (median, most) = (all[all.len() / 2], all[all.len() - 1]);
        println!(
            "{rows} x {columns} f32, {what:<28} {median:>9.2?}, at most {most:>9.2?}; {:>8.1} kB read",
            read as f64 / 1e3
        );
    }
}

/// An npy file of zeros with ones on its diagonal.
fn write_matrix(folder: &Path, rows: u64, columns: u64) {
    fs::create_dir_all(folder).expect("a folder");
    let mut file = File::create(folder.join("weight.npy")).expect("a file");
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let len = u16::try_from(header.len()).expect("a short header");
    file.write_all(b"\x93NUMPY\x01\x00").expect("on disk");
    file.write_all(&len.to_le_bytes()).expect("on disk");
    file.write_all(header.as_bytes()).expect("on disk");
    let begin = 10 + u64::from(len);
    file.set_len(begin + rows * columns * 4).expect("on disk");
    for at in (0..rows.min(columns)).step_by(16) {
        let one = 1.0_f32.to_le_bytes();
        file.write_all_at(&one, begin + (at * columns + at) * 4)
            .expect("on disk");
    }
}
