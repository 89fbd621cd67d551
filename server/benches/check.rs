//! Benchmark of `trainscope check` on dumps, compared with reading and summing the same files on one core.
//!
//! `cargo bench -p trainscope --bench check -- --gigabytes 10 --rounds 5 --peer python3`; without flags it takes a
//! second and also runs under test. The files are in the page cache: tensors of 100 kB in a file each, and all tensors
//! of a step in one file (on disk three times the given size). Each round measures everything once. The result is the
//! median of the ratios within a round, in processor time on one core: other load on a busy machine affects neither
//! side.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints, and has failed if it cannot go on"
)]

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Elements of a tensor: 100 kB.
const ELEMENTS: usize = 25_000;
const STEPS: usize = 20;
const ROLES: [&str; 3] = ["weight", "grad", "activation"];

/// Sets of rules with different needs for data.
const RULES: [(&str, &str, &str); 3] = [
    ("recommended rules", "mixed", ""),
    (
        "everything",
        "mixed",
        "[[watchpoint]]\ncondition = \"weight_not_changed\"\n\
         [[watchpoint]]\ncondition = \"tensor_range\"\nrange_start_inclusive = -3.0\n\
         range_end_inclusive = 3.0\nrange_percentage_lt = 1.0\n\
         [[watchpoint]]\ncondition = \"silent_corruption\"\n\
         [[watchpoint]]\ncondition = \"tensor_overflow\"\n",
    ),
    (
        "change rules",
        "weights",
        "[[watchpoint]]\ncondition = \"weight_not_changed\"\n\
         [[watchpoint]]\ncondition = \"weight_change_too_large\"\n",
    ),
];

struct Plan {
    tensors: usize,
    rounds: usize,
    peer: Option<String>,
}

impl Plan {
    fn parse() -> Self {
        let mut plan = Self {
            tensors: 20,
            rounds: 1,
            peer: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(flag) = args.next() {
            let mut value = || args.next().expect("the flag wants a value");
            match &*flag {
                "--gigabytes" => {
                    let gigabytes: usize = value().parse().expect("a whole number");
                    plan.tensors = gigabytes * 1_000_000_000 / (ELEMENTS * 4 * STEPS);
                }
                "--rounds" => plan.rounds = value().parse().expect("a whole number"),
                "--peer" => plan.peer = Some(value()),
                _ => {}
            }
        }
        plan
    }

    fn len_bytes(&self) -> f64 {
        (self.tensors * STEPS * ELEMENTS * 4) as f64
    }
}

/// Measurements of all rounds.
#[derive(Default)]
struct Measurements {
    name: String,
    /// Bytes per second.
    speeds: Vec<f64>,
    /// Processor time of reading and summing in the same round, divided by that of the check.
    ratios: Vec<f64>,
}

/// Duration of a run.
#[derive(Clone, Copy)]
struct Timing {
    wall: Duration,
    /// Processor time of this process and its children; wall time if the system has no such figure.
    processor: Duration,
}

impl Timing {
    fn by(run: impl FnOnce()) -> Self {
        let (began, spent) = (Instant::now(), processor_time());
        run();
        let wall = began.elapsed();
        let processor = spent
            .zip(processor_time())
            .map(|(from, to)| to.saturating_sub(from));
        Self {
            wall,
            processor: processor.unwrap_or(wall).max(Duration::from_millis(1)),
        }
    }
}

/// User and system time on Linux, in hundredths of a second.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program is in brackets, and may contain anything.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: u64 = fields.take(4).map_while(|n| n.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(10 * ticks))
}

impl Measurements {
    fn add(&mut self, plan: &Plan, took: Timing, base: Timing) {
        self.speeds.push(plan.len_bytes() / took.wall.as_secs_f64());
        let ratio = base.processor.as_secs_f64() / took.processor.as_secs_f64();
        self.ratios.push(ratio);
    }

    fn print(&mut self, layout: &str) {
        println!(
            "{layout:<12} {:<28} {:>6.2} GB/s  {:>4.0} %",
            self.name,
            median(&mut self.speeds) / 1e9,
            100.0 * median(&mut self.ratios)
        );
    }
}

fn main() {
    let plan = Plan::parse();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trees = write_trees(folder.path(), &plan);
    let gigabytes = plan.len_bytes() / 1e9;
    println!(
        "{} tensors x {STEPS} steps, {gigabytes:.1} GB, median of {}",
        plan.tensors, plan.rounds
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let rules: Vec<Option<PathBuf>> = RULES
        .iter()
        .map(|(name, _, rules)| {
            let file = folder.path().join(format!("{name}.toml"));
            fs::write(&file, rules).expect("the rules");
            (!rules.is_empty()).then_some(file)
        })
        .collect();
    for layout in ["npy", "safetensors"] {
        measure(&plan, &trees, layout, &rules, cores.min(2));
    }
    // Memory use does not depend on the amount of data.
    for (index, threads) in [(0, 1), (1, 1), (2, 1), (2, cores.min(2))] {
        let (name, mix, _) = RULES[index];
        let tree = trees.join(format!("{mix}-safetensors"));
        let peak = peak_bytes(&tree, threads, rules[index].as_ref());
        println!(
            "peak memory  {name}, {threads} cores {:>8.1} MB",
            peak / 1e6
        );
    }
}

/// Measures one layout, everything once per round.
fn measure(plan: &Plan, trees: &Path, layout: &str, rules: &[Option<PathBuf>], cores: usize) {
    let tree = |mix: &str| trees.join(format!("{mix}-{layout}"));
    let mut base = Measurements {
        name: "read and summed, 1 core".to_owned(),
        ..Measurements::default()
    };
    let mut all: Vec<Measurements> = Vec::new();
    let mut peer = Measurements {
        name: "numpy, the same statistics".to_owned(),
        ..Measurements::default()
    };
    let mut gains: Vec<Vec<f64>> = vec![Vec::new(); RULES.len()];
    for round in 0..=plan.rounds {
        // The first round warms the page cache.
        let counts = round > 0;
        let read = Timing::by(|| sum_of(&tree("mixed")));
        if counts {
            base.add(plan, read, read);
        }
        let mut place = 0;
        for (index, (name, mix, _)) in RULES.iter().enumerate() {
            let mut first = None;
            for threads in 1..=cores {
                let took = check(&tree(mix), threads, rules[index].as_ref());
                if all.len() == place {
                    all.push(Measurements {
                        name: format!("{name}, {threads} cores"),
                        ..Measurements::default()
                    });
                }
                if counts {
                    all[place].add(plan, took, read);
                    let one = *first.get_or_insert(took);
                    if threads > 1 {
                        gains[index].push(one.wall.as_secs_f64() / took.wall.as_secs_f64());
                    }
                }
                place += 1;
            }
        }
        if let Some(python) = plan.peer.as_ref().filter(|_| counts && layout == "npy") {
            peer.add(plan, numpy(python, &tree("mixed")), read);
        }
    }
    base.print(layout);
    for measured in &mut all {
        measured.print(layout);
    }
    for ((name, ..), gains) in RULES.iter().zip(&mut gains) {
        if !gains.is_empty() {
            println!(
                "{layout:<12} {name}, 2 cores by 1 {:>20.2} x",
                median(gains)
            );
        }
    }
    if !peer.speeds.is_empty() {
        peer.print(layout);
        let ratios = all.first().into_iter().flat_map(|ours| &ours.ratios);
        let mut ratios: Vec<f64> = ratios.zip(&peer.ratios).map(|(a, b)| a / b).collect();
        println!(
            "{layout:<12} {} by numpy {:>16.1} x",
            RULES[0].0,
            median(&mut ratios)
        );
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs the program on a tree.
fn check(tree: &Path, threads: usize, rules: Option<&PathBuf>) -> Timing {
    Timing::by(|| {
        let status = command(tree, threads, rules).status().expect("it starts");
        assert!(
            matches!(status.code(), Some(0 | 1)),
            "check has read everything: {status}"
        );
    })
}

fn command(tree: &Path, threads: usize, rules: Option<&PathBuf>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trainscope"));
    command.arg("check").arg(tree).arg("--quiet");
    command.arg("--threads").arg(threads.to_string());
    if let Some(rules) = rules {
        command.arg("--watchpoints").arg(rules);
    }
    command.stdout(Stdio::null());
    command
}

/// Peak memory of the program, polled every few milliseconds; 0 if the system has no such figure.
fn peak_bytes(tree: &Path, threads: usize, rules: Option<&PathBuf>) -> f64 {
    let mut child = command(tree, threads, rules).spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0_f64;
    while child.try_wait().expect("it is a child").is_none() {
        let now = fs::read_to_string(&status).unwrap_or_default();
        let kilobytes = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = kilobytes.and_then(|rest| rest.trim().strip_suffix(" kB"));
        let kilobytes: f64 = kilobytes.map_or(0.0, |n| n.trim().parse().unwrap_or(0.0));
        peak = peak.max(1024.0 * kilobytes);
        std::thread::sleep(Duration::from_millis(5));
    }
    peak
}

/// The figures that the recommended rules need, computed by `NumPy`.
fn numpy(python: &str, tree: &Path) -> Timing {
    const SCRIPT: &str = "
import sys, pathlib, numpy as np
for f in pathlib.Path(sys.argv[1]).rglob('*.npy'):
    x = np.load(f)
    finite = x[np.isfinite(x)].astype(np.float64)
    np.isnan(x).sum(), np.isposinf(x).sum(), np.isneginf(x).sum(), (x == 0).sum(), (x < 0).sum()
    finite.min(), finite.max(), finite.mean(), np.abs(finite).mean(), np.sqrt((finite * finite).sum()), finite.var()
";
    Timing::by(|| {
        let status = Command::new(python)
            .args(["-c", SCRIPT])
            .arg(tree)
            .status()
            .expect("python starts");
        assert!(status.success(), "numpy has read everything");
    })
}

/// Reads every file in blocks and sums its bytes as 32-bit numbers, on one core.
fn sum_of(tree: &Path) {
    let mut block = vec![0_u8; 256 << 10];
    let mut sum = 0.0;
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut file = File::open(path).expect("a file");
            loop {
                let len = file.read(&mut block).expect("bytes");
                if len == 0 {
                    break;
                }
                let mut lanes = [0.0_f32; 16];
                for chunk in block[..len].as_chunks::<64>().0 {
                    for (lane, bytes) in lanes.iter_mut().zip(chunk.as_chunks::<4>().0) {
                        let number = f32::from_le_bytes(*bytes);
                        *lane += if number.abs() < 1e6 { number } else { 0.0 };
                    }
                }
                sum += lanes.iter().map(|lane| f64::from(*lane)).sum::<f64>();
            }
        }
    }
    assert!(sum.is_finite(), "the sum is needed");
}

/// Writes the dump in both layouts, once with tensors of every role and once with weights alone; equal files are
/// links.
fn write_trees(root: &Path, plan: &Plan) -> PathBuf {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let numbers: Vec<u8> = (0..ELEMENTS * 64)
        .flat_map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let number = f32::from(u16::try_from(random >> 48).unwrap_or(0)) / 65_536.0 - 0.5;
            number.to_le_bytes()
        })
        .collect();
    let bytes = |tensor: usize, step: usize| {
        // Other numbers at each step.
        let at = (tensor * 7 + step * 13) % 63 * ELEMENTS * 4 + (step % 5) * 4;
        &numbers[at..at + ELEMENTS * 4]
    };
    for step in 0..STEPS {
        let [mixed, weights] = ["mixed-npy", "weights-npy"].map(|tree| {
            let folder = root.join(tree).join("steps").join(step.to_string());
            fs::create_dir_all(&folder).expect("a folder");
            folder
        });
        for tensor in 0..plan.tensors {
            let path = mixed.join(format!("{}.layer{tensor}.npy", ROLES[tensor % 3]));
            let mut header =
                format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ELEMENTS},), }}");
            header.push_str(&" ".repeat(117 - header.len()));
            header.push('\n');
            let mut file = File::create(&path).expect("a file");
            let head = [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes()].concat();
            file.write_all(&head).expect("room");
            file.write_all(bytes(tensor, step)).expect("room");
            let link = weights.join(format!("weight.layer{tensor}.npy"));
            fs::hard_link(&path, link).expect("a link");
        }
        for (tree, roles) in [("mixed", &ROLES[..]), ("weights", &ROLES[..1])] {
            let folder = root.join(format!("{tree}-safetensors")).join("steps");
            fs::create_dir_all(&folder).expect("a folder");
            let path = folder.join(format!("step_{step:05}.safetensors"));
            let entries: Vec<String> = (0..plan.tensors)
                .map(|tensor| {
                    let begin = tensor * ELEMENTS * 4;
                    format!(
                        "\"{}/layer{tensor}\":{{\"dtype\":\"F32\",\"shape\":[{ELEMENTS}],\"data_offsets\":[{begin},{}]}}",
                        roles[tensor % roles.len()],
                        begin + ELEMENTS * 4
                    )
                })
                .collect();
            let header = format!("{{{}}}", entries.join(","));
            let mut file = BufWriter::new(File::create(path).expect("a file"));
            let len = header.len() as u64;
            file.write_all(&len.to_le_bytes()).expect("room");
            file.write_all(header.as_bytes()).expect("room");
            for tensor in 0..plan.tensors {
                file.write_all(bytes(tensor, step)).expect("room");
            }
            file.flush().expect("room");
        }
    }
    root.to_owned()
}
