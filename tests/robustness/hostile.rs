//! Hostile folders and clients: pipes named like recorded files, nested and like-named base folders, clients that
//! request much and read nothing.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_format::encode::Moment;
use trainscope_format::graph::Graph;
use trainscope_format::profile::Span;
use trainscope_format::tensor::DType;
use trainscope_format::{Profile, RecordWriter};

use crate::cli::check::{floats, names, npy, safetensors};
use crate::formats::graphs::{node, record};
use crate::support::lab::STARTED_SECS;
use crate::support::program::program;
use crate::support::server::query;
use crate::support::{Lab, Recording, Server, wait_for};

/// The program with these arguments, killed after a minute: a hang must fail.
pub(super) fn run(folder: &Path, args: &[&str]) -> Output {
    let program = program();
    let mut command = Command::new("timeout");
    command
        .args(["--signal=KILL", "60"])
        .arg(program.get_program());
    command.args(program.get_args()).args(args);
    command.current_dir(folder).env("HOME", folder);
    command.output().unwrap()
}

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

/// A training whose loss is NaN since step 10.
fn diverged(folder: &Path) {
    let nan_from = |from| move |step| if step < from { 1.0 } else { f32::NAN };
    Recording::begin(folder).curve("train/loss", 0..20, nan_from(10));
}

fn health(server: &Server, run: &str) -> Value {
    let list = server.get(paths::RUNS).json();
    let mut runs = list["runs"].as_array().unwrap().iter();
    let found = runs.find(|listed| listed["id"] == run);
    found.map_or(Value::Null, |run| run["health"].clone())
}

fn wait_until_judged(server: &Server, runs: &[&str]) {
    wait_for("all runs to be judged", || {
        let is_judged = |run: &&str| !health(server, run).is_null();
        runs.iter().all(is_judged).then_some(())
    });
}

/// Names of recorded files in every format, below a run.
const NAMES: [&str; 9] = [
    "events.out.tfevents.1.host",
    "x.out.events.summary.1600000000.0.host_MS",
    "x.pb",
    "x.onnx",
    "steps/0/weight.a.npy",
    "steps/step_0.safetensors",
    "rank_0/Net/0/3/statistic.csv",
    "profiler/dataset_iterator_profiling_0.txt",
    "profiler/pipeline_profiling_0.json",
];

#[test]
fn pipes_sockets_and_devices_are_skipped_with_a_note() {
    let lab = Lab::new();
    let base = lab.base();
    diverged(&base.join("run"));
    for name in NAMES {
        pipe(&base.join("run").join(name));
    }
    let _socket = UnixListener::bind(base.join("run/events.out.tfevents.2.host")).unwrap();
    symlink("/dev/zero", base.join("run/events.out.tfevents.3.host")).unwrap();
    symlink("x.pb", base.join("run/y.pb")).unwrap();
    pipe(&base.join(".trainscope/watchpoints.toml"));
    pipe(&base.join(".trainscope/notebook.toml"));
    // A pipe with another name is not a recorded file.
    pipe(&base.join("run/control"));

    let output = run(&base, &["check", ".", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["damaged"], json!([]), "{answer:#}");
    let skipped = answer["skipped"].as_array().unwrap();
    let reason = |name: &str| {
        let mut found = skipped.iter();
        let name = format!("run/{name}");
        found
            .find(|entry| entry["file"] == *name)
            .map(|entry| &entry["reason"])
    };
    for name in NAMES {
        assert_eq!(reason(name), Some(&json!("it is a named pipe")), "{name}");
    }
    assert_eq!(
        reason("events.out.tfevents.2.host").unwrap(),
        "it is a socket"
    );
    assert_eq!(
        reason("events.out.tfevents.3.host").unwrap(),
        "it is a device"
    );
    assert_eq!(reason("y.pb").unwrap(), "it is a named pipe");
    assert_eq!(skipped.len(), NAMES.len() + 3, "{skipped:?}");
    let said = String::from_utf8(run(&base, &["check", "."]).stdout).unwrap();
    assert!(
        said.contains("run/x.pb is a named pipe and was not read"),
        "{said}"
    );

    for args in [
        &["diff", "run", "run"][..],
        &["export", "run", "--kind", "scalars"],
        &["report", "run", "--output", "report.html"],
    ] {
        let output = run(&base, args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        assert!(said.contains("x.onnx is a named pipe"), "{args:?}: {said}");
    }

    let server = lab.start();
    wait_until_judged(&server, &["run"]);
    assert_ne!(health(&server, "run")["counts"]["error"], 0);
    let notes = server.status().notes.join("\n");
    for name in NAMES {
        let note = format!("run/{name} is a named pipe and is not read");
        assert!(notes.contains(&note), "{note}: {notes}");
    }
    let asked = server
        .get(&format!("{}?run=run", paths::WATCHPOINTS))
        .json();
    let problem = asked["problem"].as_str().unwrap();
    assert!(problem.contains("a named pipe"), "{problem}");
    let notebook = server.get(paths::NOTEBOOK).json();
    assert!(notebook.to_string().contains("a named pipe"), "{notebook}");
}

#[test]
fn a_folder_with_nothing_but_a_pipe_holds_no_run() {
    let lab = Lab::new();
    pipe(&lab.base().join("run/events.out.tfevents.1.host"));
    let output = run(&lab.base(), &["check", "run"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("is a named pipe; only regular files are read"),
        "{said}"
    );
}

#[test]
fn base_folders_of_like_names_are_judged_once() {
    let lab = Lab::new();
    let bases = ["a/exp", "b/exp", "exp2"].map(|name| lab.path(name));
    for base in &bases {
        for name in ["one", "two"] {
            diverged(&base.join(name));
        }
    }
    let told = lab.path("told");
    let command = format!("sh -c 'cat >> \"$0\"; echo >> \"$0\"' {}", told.display());
    let bases: Vec<&Path> = bases.iter().map(std::path::PathBuf::as_path).collect();
    let server = lab.start_on(&bases, &["--on-hit", &command]);
    let all = [
        "exp/one",
        "exp/two",
        "exp (2)/one",
        "exp (2)/two",
        "exp2/one",
        "exp2/two",
    ];
    wait_until_judged(&server, &all);
    // Each request makes the server scan all folders again.
    for _ in 0..3 {
        let asked = server.post(paths::RECHECK, "application/json", r#"{"run": "exp/one"}"#);
        assert_eq!(asked.status, 200);
        wait_for("the run to be judged again", || {
            let of = query(&[("run", "exp/one")]);
            let findings = server.get(&format!("{}?{of}", paths::FINDINGS)).json();
            (findings["state"] == "done").then_some(())
        });
        wait_until_judged(&server, &all);
    }
    // Runs that exist at the start raise no alarm, unless they are taken for new ones.
    diverged(&bases[1].join("three"));
    let runs = wait_for("the alarm of the new run", || {
        let text = fs::read_to_string(&told).ok()?;
        let lines = text.lines().filter(|line| !line.is_empty());
        let alarms: Option<Vec<Value>> =
            lines.map(|line| serde_json::from_str(line).ok()).collect();
        let runs: Vec<Value> = alarms?.iter().map(|alarm| alarm["run"].clone()).collect();
        runs.contains(&json!("exp (2)/three")).then_some(runs)
    });
    assert_eq!(runs, ["exp (2)/three"]);
}

#[test]
fn a_file_has_one_owner_where_folders_overlap() {
    let lab = Lab::new();
    let torch = lab.base().join("torch");
    Recording::begin(&torch).curve("train/loss", 0..20, |step| 1.0 / (step + 1) as f32);
    diverged(&torch.join("child"));
    fs::create_dir_all(torch.join("child/steps")).unwrap();
    let tensors = safetensors(&[("weight/a", &[1.0, 2.0])]);
    fs::write(torch.join("child/steps/step_0.safetensors"), tensors).unwrap();
    symlink("torch", lab.base().join("latest")).unwrap();
    symlink(".", torch.join("child/self")).unwrap();

    // `check` lists the runs that the server lists.
    let output = run(&lab.base(), &["check", ".", "--format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut runs = names(&answer, "hits", "run");
    runs.dedup();
    assert_eq!(runs, ["torch/child"]);

    let child = torch.join("child");
    for (bases, runs, second_name) in [
        (&[lab.base()][..], ["torch", "torch/child"], "latest"),
        (
            &[torch.clone(), child.clone()],
            ["torch", "torch/child"],
            "child",
        ),
        (&[child, torch], ["child", "torch"], "torch/child"),
    ] {
        let bases: Vec<&Path> = bases.iter().map(std::path::PathBuf::as_path).collect();
        let server = lab.start_on(&bases, &[]);
        wait_until_judged(&server, &runs);
        assert_eq!(server.run_ids(), runs);
        // No run is judged a second time under another name.
        let of = query(&[("run", second_name)]);
        let answer = server.get(&format!("{}?{of}", paths::FINDINGS));
        assert_eq!(answer.status, 404, "{second_name}: {:#}", answer.json());
        for run in runs {
            let errors = health(&server, run)["counts"]["error"].as_u64().unwrap();
            assert_eq!(errors > 0, run.ends_with("child"), "{run}: {errors}");
        }
        let kinds = server.run(runs.into_iter().find(|run| run.ends_with("child")).unwrap());
        assert!(kinds.unwrap().kinds.contains_key("tensors"));
        server.stop();
    }
}

/// Sends a request and reads only the first bytes of its answer.
fn stalled(server: &Server, path: &str) -> TcpStream {
    let address = server.address().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    stream
}

/// Elements of a tensor: too many for a copy per client.
const LARGE_BYTES: usize = 48 << 20;

#[test]
fn large_bodies_are_not_held_for_clients_that_do_not_read() {
    let lab = Lab::new();
    let folder = lab.base().join("run");
    fs::create_dir_all(folder.join("steps/0")).unwrap();
    let file = File::create(folder.join("events.out.tfevents.1760000000.host.1.0")).unwrap();
    let mut writer = RecordWriter::new(file, STARTED_SECS).unwrap();
    let at = Moment {
        step: 0,
        wall_time_secs: STARTED_SECS,
    };
    let elements: Vec<u8> = (0..=250).cycle().take(LARGE_BYTES).collect();
    let shape = (DType::U8, &[LARGE_BYTES as u64][..]);
    writer.tensor("large", at, shape, &elements).unwrap();
    writer.flush().unwrap();
    let header = npy("'|u1'", false, &format!("({},)", 400 << 20), &[]);
    let dumped = File::create(folder.join("steps/0/weight.w.npy")).unwrap();
    (&dumped).write_all(&header).unwrap();
    dumped.set_len(header.len() as u64 + (400 << 20)).unwrap();
    let server = lab.start();
    let id = wait_for("the tensor to be read", || {
        let of = query(&[("run", "run"), ("tag", "large")]);
        let answer = server.get(&format!("{}?{of}", paths::TENSORS));
        let answer = (answer.status == 200).then(|| answer.json())?;
        Some(answer["records"][0]["data"]["id"].as_str()?.to_owned())
    });
    wait_until_judged(&server, &["run"]);

    let blob = format!("{}?id={id}", paths::BLOB);
    let dump = query(&[("run", "run"), ("tensor", "weight/w")]);
    let dump = format!("{}?{dump}", paths::TENSOR_FILE);
    let before = server.resident_bytes();
    let clients: Vec<TcpStream> = (0..16)
        .map(|number| stalled(&server, if number % 2 == 0 { &blob } else { &dump }))
        .collect();
    // Any read-ahead is complete by now.
    std::thread::sleep(Duration::from_millis(500));
    let grown = server.resident_bytes().saturating_sub(before);
    assert!(grown < 16 * (6 << 20), "{grown} bytes for 16 clients");
    assert!(server.status().ingest.idle);
    // A client that reads gets everything, also in ranges.
    let whole = server.get(&blob);
    assert!(whole.body.ends_with(&elements) && whole.body.len() == LARGE_BYTES);
    drop(clients);
}

#[test]
fn more_clients_than_turns_wait_and_the_server_answers_others() {
    let lab = Lab::new();
    let folder = lab.base().join("run/steps/0");
    fs::create_dir_all(&folder).unwrap();
    let header = npy("'|u1'", false, &format!("({},)", 64 << 20), &[]);
    let dumped = File::create(folder.join("weight.w.npy")).unwrap();
    (&dumped).write_all(&header).unwrap();
    dumped.set_len(header.len() as u64 + (64 << 20)).unwrap();
    fs::write(
        folder.join("weight.s.npy"),
        npy("'<f4'", false, "(2,)", &floats(&[1.0, 2.0])),
    )
    .unwrap();
    let server = lab.start();
    wait_until_judged(&server, &["run"]);
    let large = query(&[("run", "run"), ("tensor", "weight/w")]);
    let large = format!("{}?{large}", paths::TENSOR_FILE);
    let clients: Vec<TcpStream> = (0..64).map(|_| stalled(&server, &large)).collect();
    let address = server.address().strip_prefix("http://").unwrap();
    let mut late = TcpStream::connect(address).unwrap();
    write!(late, "GET {large} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    // Others are served in the meantime.
    let small = query(&[("run", "run"), ("tensor", "weight/s")]);
    let answer = server.get(&format!("{}?{small}", paths::TENSOR));
    assert_eq!(answer.json()["values"], json!([1.0, 2.0]));
    // A client that disconnects makes room for the waiting one.
    drop(clients);
    late.set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut head = [0; 12];
    late.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
}

#[test]
fn work_for_clients_that_are_gone_ends() {
    let lab = Lab::new();
    let folder = lab.base().join("run/steps/0");
    fs::create_dir_all(&folder).unwrap();
    let server = lab.start();
    // Too large to be read within the deadline of a test.
    let len_bytes: u64 = 16 << 30;
    let header = npy("'<f4'", false, &format!("({},)", len_bytes / 4), &[]);
    let dumped = File::create(folder.join("weight.w.npy")).unwrap();
    (&dumped).write_all(&header).unwrap();
    dumped.set_len(header.len() as u64 + len_bytes).unwrap();
    // A judgement would read it too, but waits for a newly written file.
    let later = SystemTime::now() + Duration::from_hours(1);
    dumped.set_modified(later).unwrap();
    let of = query(&[("run", "run"), ("tensor", "weight/w")]);
    wait_for("the tensor to be found", || {
        let listed = server.get(&format!("{}?run=run", paths::TENSOR_INDEX));
        (listed.status == 200 && listed.json()["total"] == 1).then_some(())
    });
    let summary = format!("{}?{of}", paths::TENSOR_SUMMARY);
    let address = server.address().strip_prefix("http://").unwrap();
    let ask = || {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {summary} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        stream
    };
    let clients = [ask(), ask(), ask()];
    let busy = |server: &Server| {
        let (before, began) = (server.processor_secs(), Instant::now());
        std::thread::sleep(Duration::from_millis(300));
        (server.processor_secs() - before) / began.elapsed().as_secs_f64()
    };
    wait_for("the summaries to begin", || {
        (busy(&server) > 0.2).then_some(())
    });
    drop(clients);
    wait_for("the summaries to end", || {
        (busy(&server) < 0.05).then_some(())
    });
}

#[test]
fn times_of_a_graph_are_means_of_all_profiles() {
    let lab = Lab::new();
    let folder = lab.base().join("timed");
    let graph = Graph {
        nodes: vec![node("net/matmul", "MatMul", &[])],
        ..Graph::default()
    };
    record(&folder, &graph);
    let file = File::create(folder.join("events.out.tfevents.1760000001.host.1.1")).unwrap();
    let mut writer = RecordWriter::new(std::io::BufWriter::new(file), STARTED_SECS).unwrap();
    // Each record ends one step and begins the next one: without one of them, two steps would be too short.
    let mut put = |steps: std::ops::Range<i64>| {
        for step in steps {
            let half = |step| Span {
                name: 0,
                lane: 0,
                step,
                start_nanos: step * 1_000_000,
                duration_nanos: 500_000,
            };
            let profile = Profile {
                names: vec!["net/matmul".to_owned()],
                lanes: vec!["main".to_owned()],
                spans: vec![half(step), half(step + 1)],
                ..Profile::default()
            };
            let at = Moment {
                step,
                wall_time_secs: STARTED_SECS + step as f64,
            };
            writer.profile("profile", at, &profile).unwrap();
        }
        writer.flush().unwrap();
    };
    put(0..2_400);
    let server = lab.start();
    let mean = |records: u64| {
        server.wait_for_records(records);
        let scene = server.get("/api/graph/scene?run=timed&open=net").json();
        let mut boxes = scene["boxes"].as_array().unwrap().iter();
        boxes.find(|shown| shown["path"] == "net/matmul").unwrap()["mean_nanos"].clone()
    };
    // 2,399 whole steps, and half of the first and the last one.
    assert_eq!(mean(2_401), 1_000_000_u64 * 2_400 / 2_401);
    // Later records are added to those read before.
    put(2_400..2_500);
    assert_eq!(mean(2_501), 1_000_000_u64 * 2_500 / 2_501);
}
