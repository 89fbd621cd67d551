//! `bench`: the benches of the packages, then the program as a whole, beside a peer in the same run.
//!
//! The end-to-end figures are medians of rounds that alternate between the programs, each on files that are in the
//! page cache, each after waiting for idle cores. They are printed as the table that README shows.

mod data;
mod machine;
mod peer;
mod report;
mod requests;
mod server;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use self::data::Shape;
use self::peer::RustBoard;
use self::report::{Report, Samples};
use self::server::Cache;
use crate::console;
use crate::process::{cargo, run as run_command};
use crate::workspace::Workspace;

/// What the command line asks for.
struct Plan {
    /// A Python environment with TensorBoard in it.
    peer: Option<PathBuf>,
    /// Repetitions of each measurement.
    rounds: usize,
    /// Whether the packages' own benches are left out.
    is_end_to_end_only: bool,
}

/// Runs everything. Flags: `--peer VENV`, `--rounds N`, `--end-to-end`.
pub(crate) fn run(workspace: &Workspace, flags: &[String]) -> Result<()> {
    let plan = Plan::parse(flags)?;
    if !plan.is_end_to_end_only {
        console::step("benches of the packages");
        run_command(cargo().current_dir(&workspace.root).args([
            "bench",
            "--workspace",
            "--benches",
        ]))?;
    }
    console::step("build the server");
    run_command(cargo().current_dir(&workspace.root).args([
        "build",
        "--release",
        "-p",
        "trainscope",
    ]))?;
    let bench = Bench {
        program: workspace.target.join("release/trainscope"),
        scratch: workspace.target.join("bench"),
        peer: plan.peer.map(|venv| RustBoard::find(&venv)).transpose()?,
        rounds: plan.rounds,
    };
    let mut report = Report::default();
    bench.loading(&Shape::ONE_LONG, &mut report)?;
    bench.loading(&Shape::HUNDRED_RUNS, &mut report)?;
    bench.long_series(&mut report)?;
    bench.requests(&mut report)?;
    bench.wide_request(&mut report)?;
    console::step("results");
    console::line(&report.markdown());
    Ok(())
}

impl Plan {
    fn parse(flags: &[String]) -> Result<Self> {
        let mut plan = Self {
            peer: None,
            rounds: 5,
            is_end_to_end_only: false,
        };
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "--peer" => plan.peer = Some(flags.next().context("--peer wants a folder")?.into()),
                "--rounds" => {
                    plan.rounds = flags.next().context("--rounds wants a number")?.parse()?;
                }
                "--end-to-end" => plan.is_end_to_end_only = true,
                other => bail!("`bench` has no flag {other}"),
            }
        }
        Ok(plan)
    }
}

/// The programs and where they work.
struct Bench {
    program: PathBuf,
    scratch: PathBuf,
    peer: Option<RustBoard>,
    rounds: usize,
}

impl Bench {
    /// Start to everything answerable and committed, again after a restart, and the size of the index.
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
                peer_sampled.push(peer.load(&data.folder, false)?.secs);
                machine::settle(&data.folder)?;
                peer_all.push(peer.load(&data.folder, true)?.secs);
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
                let load = peer.load(&data.folder, true)?;
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

    /// One series of 1,000 points over and over.
    fn requests(&self, report: &mut Report) -> Result<()> {
        let shape = &Shape::HUNDRED_RUNS;
        console::step("requests");
        let data = shape.on_disk(&self.scratch)?;
        let cache = Cache::empty(&self.scratch)?;
        let server = cache.start(&self.program, &data.folder)?;
        server.wait_for_commit(data.points)?;
        machine::settle(&data.folder)?;
        let alone = requests::series(server.address(), &data.first_run, 1)?;
        machine::settle(&data.folder)?;
        let eight = requests::series(server.address(), &data.first_run, 8)?;
        server.stop()?;
        report.figure(
            "one series of 1,000 points, 1 connection: median, 99th percentile",
            &format!("{:.2} ms, {:.2} ms", alone.median_ms, alone.p99_ms),
        );
        report.figure(
            "the same, 8 connections from the same two cores",
            &format!(
                "{:.0} answers/s, median {:.2} ms",
                eight.per_sec, eight.median_ms
            ),
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
}
