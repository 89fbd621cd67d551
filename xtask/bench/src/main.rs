//! Benchmarks of the packages, then of the whole program, next to a peer in the same run; `cargo xtask bench` calls it.
//!
//! The end-to-end figures are medians of rounds that alternate between the programs, each on files in the page cache,
//! each after waiting for idle cores. They are printed as the table in `docs/src/performance.md`.

mod browser;
mod bundle_size;
mod connection;
mod data;
#[path = "../../../tests/support/driver.rs"]
mod driver;
#[path = "../../../tests/support/event_file.rs"]
mod event_file;
mod machine;
mod many;
mod pages;
mod peer;
mod report;
mod requests;
mod server;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use self::browser::{FirstCurve, append_latency, first_curve};
use self::data::Shape;
use self::machine::Cores;
use self::peer::RustBoard;
use self::report::{Report, Samples};
use self::requests::Latency;
use self::server::Cache;
use xtask::bundle::Bundle;
use xtask::console;
use xtask::process::{cargo, find_program, run as run_command};
use xtask::workspace::Workspace;

/// Parsed command line.
struct Plan {
    /// A Python environment with TensorBoard.
    peer: Option<PathBuf>,
    /// Repetitions of each measurement.
    rounds: usize,
    /// Program to measure; built if not given.
    program: Option<PathBuf>,
    parts: Vec<String>,
}

/// Parts in this order, unless `--part` selects some.
const PARTS: [&str; 7] = [
    "packages", "loading", "requests", "pages", "timeline", "table", "many",
];

fn main() -> ExitCode {
    let flags: Vec<String> = std::env::args().skip(1).collect();
    match Workspace::locate().and_then(|workspace| measure_all(&workspace, &flags)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs all selected parts. Flags: `--peer VENV`, `--rounds N`, `--part NAME` (of [`PARTS`], repeatable), `--program
/// FILE`.
fn measure_all(workspace: &Workspace, flags: &[String]) -> Result<()> {
    let plan = Plan::parse(flags)?;
    ensure!(
        find_program("chromedriver").is_some(),
        "no `chromedriver` is on the search path: `cargo xtask test` installs it"
    );
    let dist = Bundle::Small.folder(workspace);
    if !dist.join("trainscope_web_bg.wasm").exists() {
        Bundle::Small.build(workspace)?;
    }
    if plan.has("packages") {
        console::step("benches of the packages");
        run_command(cargo().current_dir(&workspace.root).args([
            "bench",
            "--workspace",
            "--benches",
        ]))?;
    }
    let program = match &plan.program {
        Some(program) => program.clone(),
        None => build(workspace)?,
    };
    let bench = Bench {
        program,
        scratch: workspace.target.join("bench"),
        peer: plan.peer.as_deref().map(RustBoard::find).transpose()?,
        rounds: plan.rounds,
    };
    let mut report = Report::default();
    if plan.has("loading") {
        bench.loading(&Shape::ONE_LONG, &mut report)?;
        bench.loading(&Shape::HUNDRED_RUNS, &mut report)?;
        bench.loading(&Shape::MANY_RUNS, &mut report)?;
        bench.one_core(&Shape::ONE_LONG, &mut report)?;
        bench.one_core(&Shape::HUNDRED_RUNS, &mut report)?;
        bench.long_series(&mut report)?;
    }
    if plan.has("requests") {
        bench.ranges(&mut report)?;
        bench.requests(&mut report)?;
        bench.wide_request(&mut report)?;
    }
    if plan.has("pages") {
        let samples = workspace.root.join("sample-runs");
        bench.pages(&samples, &mut report)?;
        pages::measure(&bench, &mut report)?;
        let bytes = bundle_size::gzip_bytes(&bench, &dist, &samples)?;
        report.figure(
            "all files of the page after gzip",
            &format!("{:.0} kB", bytes as f64 / 1e3),
        );
    }
    if plan.has("timeline") {
        pages::timeline::measure(&bench, &mut report)?;
    }
    if plan.has("table") {
        table::measure(&bench, &mut report)?;
    }
    if plan.has("many") {
        many::measure(&bench, &mut report)?;
    }
    console::step("results");
    console::line(&report.markdown());
    Ok(())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    console::step("build the server");
    run_command(cargo().current_dir(&workspace.root).args([
        "build",
        "--release",
        "-p",
        "trainscope",
    ]))?;
    Ok(workspace.target.join("release/trainscope"))
}

impl Plan {
    fn parse(flags: &[String]) -> Result<Self> {
        let mut plan = Self {
            peer: None,
            rounds: 5,
            program: None,
            parts: Vec::new(),
        };
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "--peer" => plan.peer = Some(flags.next().context("--peer wants a folder")?.into()),
                "--rounds" => {
                    plan.rounds = flags.next().context("--rounds wants a number")?.parse()?;
                }
                "--program" => {
                    plan.program = Some(flags.next().context("--program wants a file")?.into());
                }
                "--part" => {
                    let part = flags.next().context("--part wants a name")?;
                    ensure!(
                        PARTS.contains(&part.as_str()),
                        "`bench` has no part {part}: {}",
                        PARTS.join(", ")
                    );
                    plan.parts.push(part.clone());
                }
                other => bail!("`bench` has no flag {other}"),
            }
        }
        Ok(plan)
    }

    fn has(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|named| named == part)
    }
}

/// The programs with their scratch folder.
struct Bench {
    program: PathBuf,
    scratch: PathBuf,
    peer: Option<RustBoard>,
    rounds: usize,
}

impl Bench {
    /// Time from start until all points are available and committed, the same after a restart, and the size of the
    /// index.
    fn loading(&self, shape: &Shape, report: &mut Report) -> Result<()> {
        console::step(shape.name);
        let data = shape.on_disk(&self.scratch)?;
        let (mut answerable, mut committed, mut warm) =
            (Samples::new(), Samples::new(), Samples::new());
        let (mut peer_sampled, mut peer_all) = (Samples::new(), Samples::new());
        let mut index_bytes = 0;
        for _ in 0..self.rounds {
            let cache = Cache::empty(&self.scratch)?;
            machine::settle(&data.folder)?;
            let server = cache.start(&self.program, &data.folder)?;
            answerable.push(server.wait_for_records(data.points)?);
            committed.push(server.wait_for_commit(data.points)?);
            server.stop()?;
            index_bytes = cache.len_bytes()?;

            machine::settle(&data.folder)?;
            let server = cache.start(&self.program, &data.folder)?;
            warm.push(server.wait_for_answer(&data.first_run, "metrics/tag_00", shape.steps)?);
            server.stop()?;

            if let Some(peer) = &self.peer {
                machine::settle(&data.folder)?;
                peer_sampled.push(peer.load(&data.folder, false, Cores::All)?.secs);
                machine::settle(&data.folder)?;
                peer_all.push(peer.load(&data.folder, true, Cores::All)?.secs);
            }
        }
        let all_points = format!("{}: start to every point answerable", shape.name);
        report.times(&all_points, &answerable, &peer_all);
        let sampled = format!(
            "{}: the same, peer keeping 1,000 points a series",
            shape.name
        );
        report.times(&sampled, &answerable, &peer_sampled);
        report.times(
            &format!("{}: start to everything committed", shape.name),
            &committed,
            &Samples::new(),
        );
        report.times(
            &format!("{}: restart to the first whole answer", shape.name),
            &warm,
            &peer_all,
        );
        report.figure(
            &format!("{}: bytes of index a point", shape.name),
            &format!("{:.2}", index_bytes as f64 / data.points as f64),
        );
        Ok(())
    }

    /// Time from start until all points are committed, on a single core.
    fn one_core(&self, shape: &Shape, report: &mut Report) -> Result<()> {
        console::step(&format!("{} on one core", shape.name));
        let data = shape.on_disk(&self.scratch)?;
        let (mut ours, mut theirs) = (Samples::new(), Samples::new());
        for _ in 0..self.rounds {
            let cache = Cache::empty(&self.scratch)?;
            machine::settle(&data.folder)?;
            let server = cache.start_on(Cores::One, &self.program, &data.folder)?;
            ours.push(server.wait_for_commit(data.points)?);
            server.stop()?;
            if let Some(peer) = &self.peer {
                machine::settle(&data.folder)?;
                theirs.push(peer.load(&data.folder, true, Cores::One)?.secs);
            }
        }
        report.times(
            &format!("{}: start to everything committed, on one core", shape.name),
            &ours,
            &theirs,
        );
        Ok(())
    }

    /// Ten million points in one series: time and memory.
    fn long_series(&self, report: &mut Report) -> Result<()> {
        let shape = &Shape::VERY_LONG;
        console::step(shape.name);
        let data = shape.on_disk(&self.scratch)?;
        let (mut ours, mut theirs) = (Samples::new(), Samples::new());
        let (mut resident, mut their_resident) = (Samples::new(), Samples::new());
        for _ in 0..self.rounds.min(3) {
            let cache = Cache::empty(&self.scratch)?;
            machine::settle(&data.folder)?;
            let server = cache.start(&self.program, &data.folder)?;
            ours.push(server.wait_for_records(data.points)?);
            server.wait_for_commit(data.points)?;
            resident.push(machine::resident_bytes(server.pid())? as f64);
            server.stop()?;
            if let Some(peer) = &self.peer {
                machine::settle(&data.folder)?;
                let load = peer.load(&data.folder, true, Cores::All)?;
                theirs.push(load.secs);
                their_resident.push(load.resident_bytes as f64);
            }
        }
        report.times(
            &format!("{}: start to every point answerable", shape.name),
            &ours,
            &theirs,
        );
        report.memory(
            &format!("{}: resident memory then", shape.name),
            &resident,
            &their_resident,
        );
        Ok(())
    }

    /// The whole of a long series as 1,000 buckets, and a range of it as raw points.
    fn ranges(&self, report: &mut Report) -> Result<()> {
        for (shape, ranges) in [
            (
                &Shape::ONE_LONG,
                &[("1,000,000 points as 1,000 buckets", "", true)][..],
            ),
            (
                &Shape::VERY_LONG,
                &[
                    ("10,000,000 points as 1,000 buckets", "", true),
                    (
                        "1,000 raw points amid 10,000,000",
                        "&from=5000000&to=5000999",
                        false,
                    ),
                ],
            ),
        ] {
            console::step(shape.name);
            let data = shape.on_disk(&self.scratch)?;
            let cache = Cache::empty(&self.scratch)?;
            let server = cache.start(&self.program, &data.folder)?;
            server.wait_for_commit(data.points)?;
            for &(name, query, is_cut) in ranges {
                machine::settle(&data.folder)?;
                let range = requests::range(server.address(), &data.first_run, query)?;
                ensure!(range.is_cut == is_cut, "{name}: wrong kind of points");
                report.millis(&format!("one answer: {name}"), range.median_ms, None);
            }
            server.stop()?;
        }
        Ok(())
    }

    /// Repeated requests for one series of 1,000 points.
    fn requests(&self, report: &mut Report) -> Result<()> {
        let shape = &Shape::HUNDRED_RUNS;
        console::step("requests");
        let data = shape.on_disk(&self.scratch)?;
        let cache = Cache::empty(&self.scratch)?;
        let server = cache.start(&self.program, &data.folder)?;
        server.wait_for_commit(data.points)?;
        let url = format!(
            "{}/api/scalars?run={}&tag=metrics/tag_00",
            server.address(),
            data.first_run
        );
        machine::settle(&data.folder)?;
        let alone = requests::repeated(&url, 1)?;
        machine::settle(&data.folder)?;
        let eight = requests::repeated(&url, 8)?;
        server.stop()?;

        let (mut peer_alone, mut peer_eight) = (None, None);
        if let Some(peer) = &self.peer {
            let server = peer.serve(&data.folder)?;
            let url = server.wait_for_series(&data.first_run, "metrics/tag_00", shape.steps)?;
            machine::settle(&data.folder)?;
            peer_alone = Some(requests::repeated(&url, 1)?);
            machine::settle(&data.folder)?;
            peer_eight = Some(requests::repeated(&url, 8)?);
        }
        let median = |latency: &Latency| latency.median_ms;
        report.millis(
            "one series of 1,000 points, 1 connection: median (peer: the whole of TensorBoard)",
            alone.median_ms,
            peer_alone.as_ref().map(median),
        );
        report.millis(
            "the same: 99th percentile",
            alone.p99_ms,
            peer_alone.as_ref().map(|latency| latency.p99_ms),
        );
        report.rates(
            "the same, 8 connections: answers a second",
            eight.per_sec,
            peer_eight.as_ref().map(|latency| latency.per_sec),
        );
        report.millis(
            "the same, 8 connections: median",
            eight.median_ms,
            peer_eight.as_ref().map(median),
        );
        Ok(())
    }

    /// One curve of each of 1,000 runs in one answer.
    fn wide_request(&self, report: &mut Report) -> Result<()> {
        let shape = &Shape::THOUSAND_RUNS;
        console::step("one curve of 1,000 runs");
        let data = shape.on_disk(&self.scratch)?;
        let cache = Cache::empty(&self.scratch)?;
        let server = cache.start(&self.program, &data.folder)?;
        server.wait_for_commit(data.points)?;
        machine::settle(&data.folder)?;
        let wide = requests::wide(server.address(), &data.runs)?;
        server.stop()?;
        report.figure(
            "one curve of 1,000 runs x 100 points, as columns",
            &format!(
                "{:.1} ms, {:.2} MB",
                wide.median_ms,
                wide.len_bytes as f64 / 1e6
            ),
        );
        Ok(())
    }

    /// Latencies in the browser.
    fn pages(&self, samples: &Path, report: &mut Report) -> Result<()> {
        console::step("pages in a browser");
        let cache = Cache::empty(&self.scratch)?;
        let server = cache.start(&self.program, samples)?;
        server.wait_until_idle()?;
        let address = format!("{}/run/transformer-small/bf16/scalars", server.address());
        let (mut cold, mut warm) = (Samples::new(), Samples::new());
        for _ in 0..self.rounds {
            machine::settle(samples)?;
            let FirstCurve { cold_ms, warm_ms } = first_curve(&address)?;
            cold.push(cold_ms);
            warm.push(warm_ms);
        }
        server.stop()?;
        let millis = |samples: &Samples| samples.median().unwrap_or(f64::NAN);
        report.millis(
            "page of a sample run in a new browser: navigation to the first curve",
            millis(&cold),
            None,
        );
        report.millis("the same, visited before", millis(&warm), None);

        let seen = append_latency(&self.program, &self.scratch)?;
        report.millis(
            "point appended to a file: until the curve on the page changes",
            millis(&seen),
            None,
        );
        Ok(())
    }
}
