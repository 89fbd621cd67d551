//! Profiles over HTTP and in exports: numbers agree with those of the program that wrote the trace.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use trainscope_api::timeline;

use crate::support::lab::{copy_folder, fixture, workspace_root};
use crate::support::server::query;
use crate::support::terminal::trainscope_in;
use crate::support::{Lab, Server, wait_for};

/// A server over a run that has one trace.
fn serve(lab: &Lab, trace: &str, name: &str) -> Server {
    let folder = lab.base().join("run");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(fixture("profile").join(trace), folder.join(name)).unwrap();
    let server = lab.start();
    server.wait_for_records(1);
    server
}

fn ask(server: &Server, path: &str, parameters: &[(&str, &str)]) -> Value {
    let all = [&[("run", "run")], parameters].concat();
    server.get(&format!("{path}?{}", query(&all))).json()
}

fn text_of(path: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[test]
fn the_overview_of_a_real_trace_has_the_steps_that_the_profiler_marked() {
    let lab = Lab::new();
    let server = serve(
        &lab,
        "torch-cnn/tb.pt.trace.json.gz",
        "vm.1795213256892341813.pt.trace.json.gz",
    );
    let overview = ask(&server, "/api/profile/overview", &[]);
    let session = &overview["sessions"][0];
    assert_eq!(session["format"], "kineto");
    assert_eq!(session["steps_from"], "profiler_step");
    assert_eq!(session["median_step_nanos"], 2_417_579);
    let steps = session["steps"].as_array().unwrap();
    let lengths: Vec<i64> = steps
        .iter()
        .map(|step| step["end_nanos"].as_i64().unwrap() - step["begin_nanos"].as_i64().unwrap())
        .collect();
    assert_eq!(lengths, [2_586_272, 2_417_579, 2_124_099]);
    for (step, length) in steps.iter().zip(lengths) {
        let parts = step["parts_nanos"].as_object().unwrap();
        let sum: i64 = parts.values().map(|part| part.as_i64().unwrap()).sum();
        assert_eq!(sum, length, "parts add up");
    }
    let list = ask(&server, "/api/profile", &[]);
    assert_eq!(list["sessions"][0]["state"], "whole");
    assert_eq!(list["sessions"][0]["events"], 1_241);
}

/// Wall time of a moment of the session, which its files give in nanoseconds.
fn secs(unix_nanos: &str, since: i64) -> f64 {
    (unix_nanos.parse::<i128>().unwrap() + i128::from(since)) as f64 / 1e9
}

#[test]
fn steps_of_a_profile_are_found_by_the_numbers_of_the_training() {
    let lab = Lab::new();
    let server = serve(
        &lab,
        "torch-cnn/tb.pt.trace.json.gz",
        "vm.1795213256892341813.pt.trace.json.gz",
    );
    let lanes = ask(&server, "/api/timeline/lanes", &[]);
    assert_eq!(lanes["step_offset"], 0);
    let steps = lanes["steps"].as_array().unwrap();
    let at = |step: i64| {
        let step = step.to_string();
        let query = [("step", &*step), ("rank", "0")];
        ask(&server, "/api/timeline/step", &query)["place"].clone()
    };
    let first = steps[0]["number"].as_i64().unwrap();
    assert_eq!(at(first)["step"], steps[0]);
    assert!(at(first + 2_000).is_null());
    // The curve of the loss starts at another number.
    let clock = lanes["unix_nanos"].as_str().unwrap();
    let mut run = lab.record("run");
    for step in steps {
        let end = step["end_nanos"].as_i64().unwrap();
        let number = step["number"].as_i64().unwrap() + 2_000;
        run.scalar_at("loss", number, secs(clock, end + 10_000), 1.0);
    }
    server.wait_for_points("run", "loss", steps.len() as u64);
    let lanes = ask(&server, "/api/timeline/lanes", &[]);
    assert_eq!(lanes["step_offset"], 2_000);
    let place = at(first + 2_000);
    assert_eq!(place["step"], steps[0], "with the number of the profiler");
    assert_eq!(place["rank"], 0);
    let step = (first + 2_000).to_string();
    let other = [("step", &*step), ("session", "none")];
    assert!(ask(&server, "/api/timeline/step", &other)["place"].is_null());
    assert!(at(first).is_null());
}

#[test]
fn every_slice_of_the_timeline_is_counted_in_one_cell_and_its_arguments_are_read() {
    let lab = Lab::new();
    let server = serve(
        &lab,
        "torch-cnn/plain.pt.trace.json.gz",
        "plain.pt.trace.json.gz",
    );
    let lanes = ask(&server, "/api/timeline/lanes", &[]);
    let groups = lanes["groups"].as_array().unwrap();
    let entries = groups
        .iter()
        .flat_map(|group| group["lanes"].as_array().unwrap());
    let slices: u64 = entries.map(|lane| lane["slices"].as_u64().unwrap()).sum();
    assert_eq!(slices, 775);
    for width in ["60", "1600"] {
        let answer = ask(&server, "/api/timeline", &[("width", width)]);
        let rows = answer["rows"].as_array().unwrap();
        let cells = rows.iter().flat_map(|row| row["cells"].as_array().unwrap());
        let count: u64 = cells.map(|cell| cell[3].as_u64().unwrap()).sum();
        assert_eq!(count, 775, "{width} pixels");
    }
    let bytes = server.get_with(
        "/api/timeline?run=run&width=1600",
        &[("Accept", timeline::CELLS_MEDIA_TYPE)],
    );
    assert_eq!(bytes.media_type, timeline::CELLS_MEDIA_TYPE);
    let text = ask(&server, "/api/timeline", &[("width", "1600")]);
    let text: timeline::TimelineAnswer = serde_json::from_value(text).unwrap();
    assert_eq!(timeline::decode(&bytes.body), Ok(text));
    let found = ask(
        &server,
        "/api/timeline/search",
        &[("query", "convolution_backward")],
    );
    assert_eq!(found["count"], 4);
    let index = found["nearest"][0]["index"].to_string();
    let slice = ask(&server, "/api/timeline/slice", &[("index", &index)]);
    assert_eq!(slice["slice"]["name"], "aten::convolution_backward");
    let arguments = slice["arguments"].as_array().unwrap();
    assert!(
        arguments.iter().any(|pair| pair[0] == "Input Dims"),
        "{arguments:?}"
    );
    let found = |query: &str| {
        ask(&server, "/api/timeline/search", &[("query", query)])["count"]
            .as_u64()
            .unwrap()
    };
    let with_dims = found("args:\"input dims\"");
    assert!((4..775).contains(&with_dims), "{with_dims}");
    assert_eq!(found("args:\"input dims\" convolution_backward"), 4);
    assert_eq!(found("args:nothing-has-this"), 0);
    let area = ask(
        &server,
        "/api/timeline/area",
        &[("from", "0"), ("to", "5511880")],
    );
    let names = area["names"].as_array().unwrap();
    let row = names
        .iter()
        .find(|row| row["name"] == "aten::convolution_backward");
    assert_eq!(row.unwrap()["total_nanos"], 776_477);
}

#[test]
fn a_truncated_trace_is_shown_up_to_its_end_and_the_page_says_where_that_is() {
    let lab = Lab::new();
    let text = text_of(&fixture("profile/torch-cnn/plain.pt.trace.json.gz"));
    let folder = lab.base().join("run");
    fs::create_dir_all(&folder).unwrap();
    let half = &text[..text.len() / 2];
    fs::write(folder.join("plain.pt.trace.json"), half).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    fs::write(
        folder.join("packed.pt.trace.json.gz"),
        &packed[..packed.len() / 2],
    )
    .unwrap();
    let server = lab.start();
    server.wait_for_records(2);
    for session in ["plain", "packed"] {
        let overview = ask(&server, "/api/profile/overview", &[("session", session)]);
        assert_eq!(overview["sessions"][0]["state"], "truncated", "{session}");
        let events = overview["sessions"][0]["events"].as_u64().unwrap();
        assert!((400..1_000).contains(&events), "{session}: {events}");
    }
    let list = ask(&server, "/api/profile", &[]);
    let faults = list["sessions"].to_string();
    assert!(faults.contains(&format!("byte {}", half.len())), "{faults}");
}

#[test]
fn ranks_of_one_session_are_compared() {
    let lab = Lab::new();
    lab.copy_fixture("profile/ranks", "run");
    let server = lab.start();
    server.wait_for_records(4);
    let answer = ask(&server, "/api/profile/ranks", &[]);
    let ranks = answer["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), 4);
    assert_eq!(ranks[2]["slow_from_step"], 15);
    assert_eq!(ranks[2]["slow_steps"], 25);
    assert_eq!(answer["stragglers"][0]["rank"], 2);
}

#[test]
fn the_slow_rank_of_the_sample_run_is_a_hit_of_check() {
    let run = workspace_root().join("sample-runs/torch/eight-ranks");
    let run = run.display().to_string();
    let printed = trainscope_in(Path::new("."), &["check", &run, "--format", "json"]);
    assert_eq!(printed.status, 1, "{printed:?}");
    let report: Value = serde_json::from_str(&printed.out).unwrap();
    let hits = report["hits"].as_array().unwrap();
    let slow = hits.iter().find(|hit| hit["condition"] == "straggler_rank");
    let slow = slow.unwrap();
    assert_eq!((&slow["step"], &slow["rank"]), (&18.into(), &5.into()));
}

#[test]
fn a_run_of_profiles_has_the_steps_and_times_of_its_traces_in_the_list() {
    let lab = Lab::new();
    for name in ["eight-ranks", "profiled"] {
        let from = workspace_root().join("sample-runs/torch").join(name);
        copy_folder(&from, &lab.base().join(name));
    }
    let server = lab.start();
    let run = |id: &str| {
        wait_for("the profile to be judged", || {
            let run = server.run(id)?;
            run.profile.is_some().then_some(run)
        })
    };
    let ranks = run("eight-ranks");
    let profile = ranks.profile.unwrap();
    assert_eq!((profile.ranks, profile.steps), (8, 40));
    assert_eq!(
        (profile.step_range, ranks.last_step),
        (Some((0, 39)), Some(39))
    );
    let parts: i64 = profile
        .mean_parts_nanos
        .kinds(profile.has_device)
        .iter()
        .sum();
    assert!((parts - profile.mean_step_nanos).abs() < profile.mean_step_nanos / 100);
    let times = ranks.last_wall_time_secs.unwrap() - ranks.first_wall_time_secs.unwrap();
    assert!(
        (times - profile.extent_nanos as f64 / 1e9).abs() < 1e-3,
        "{times}"
    );
    let profiled = run("profiled");
    assert_eq!(profiled.last_step, Some(4), "and not step 0");
}

#[test]
fn what_is_not_there_is_refused_with_a_reason() {
    let lab = Lab::new();
    lab.record("run").scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("run", "loss", 1);
    assert_eq!(
        ask(&server, "/api/profile", &[])["sessions"],
        Value::Array(vec![])
    );
    let refused = server.get("/api/profile/overview?run=run");
    assert_eq!(refused.status, 404);
    assert_eq!(refused.json()["message"], "run `run` has no profile");
    let unknown = server.get("/api/profile?run=other");
    assert_eq!(unknown.status, 404);
}

#[test]
fn exports_have_the_numbers_of_the_pages() {
    let lab = Lab::new();
    let trace = "steps4-layers2.pt.trace.json.gz";
    fs::copy(
        fixture("profile/generated").join(trace),
        lab.base().join(trace),
    )
    .unwrap();
    let folder = lab.base().display().to_string();
    let export = |flags: &[&str]| {
        let printed = trainscope_in(Path::new("."), &[&["export", &folder], flags].concat());
        assert_eq!(printed.status, 0, "{printed:?}");
        printed.out
    };
    let json: Value =
        serde_json::from_str(&export(&["--kind", "profile", "--format", "json"])).unwrap();
    let session = &json["sessions"][0];
    assert_eq!(session["events"], 1_404);
    assert_eq!(session["launch_delay_nanos"]["sum"], 137_735_075);
    assert_eq!(session["critical_path_nanos"]["kernel"], 4_397_446);
    assert_eq!(session["memory"][0]["peak_len_bytes"], 2_248_146_944_u64);
    let steps = export(&["--kind", "profile"]);
    assert_eq!(steps.lines().count(), 5, "{steps}");
    let operators = export(&["--kind", "operators", "--by", "kernel"]);
    let head = "name,type,calls,self_nanos,total_nanos,mean_nanos,p99_nanos,device_self_nanos,device_total_nanos,flops,bytes,roofline";
    assert_eq!(operators.lines().next(), Some(head));
    let chrome: Value =
        serde_json::from_str(&export(&["--kind", "timeline", "--format", "json"])).unwrap();
    let slices = chrome["traceEvents"].as_array().unwrap().iter();
    assert!(slices.filter(|event| event["ph"] == "X").count() > 700);
    assert!(export(&["--kind", "stacks"]).contains("ProfilerStep#0;"));
}

#[test]
fn profiles_in_formats_that_are_not_read_are_named() {
    let lab = Lab::new();
    let server = serve(
        &lab,
        "torch-cnn/plain.pt.trace.json.gz",
        "plain.pt.trace.json.gz",
    );
    fs::write(lab.base().join("run/report.nsys-rep"), b"").unwrap();
    let list = ask(&server, "/api/profile", &[]);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    let unread = list["unread"].as_array().unwrap();
    assert_eq!(unread.len(), 1, "{list}");
    assert_eq!(unread[0]["path"], "run/report.nsys-rep");
    let reason = unread[0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("not read"), "{reason}");
}

/// The session of the only trace of a folder, and the events of its timeline.
fn exported(lab: &Lab) -> (Value, Vec<Value>) {
    let folder = lab.base().display().to_string();
    let export = |kind: &str| -> Value {
        let flags = ["export", &folder, "--kind", kind, "--format", "json"];
        let printed = trainscope_in(Path::new("."), &flags);
        assert_eq!(printed.status, 0, "{printed:?}");
        serde_json::from_str(&printed.out).unwrap()
    };
    let events = export("timeline")["traceEvents"].take();
    (
        export("profile")["sessions"][0].take(),
        serde_json::from_value(events).unwrap(),
    )
}

#[test]
fn a_span_at_the_very_end_of_a_trace_is_exported_too() {
    let lab = Lab::new();
    let trace = "threaded.json.gz";
    let from = fixture("profile/tracing-chrome").join(trace);
    fs::copy(from, lab.base().join(trace)).unwrap();
    let (session, events) = exported(&lab);
    assert_eq!(session["categories"]["tc"]["count"], 13);
    assert_eq!(session["extent_nanos"], 11_291_765);
    let slices = events.iter().filter(|event| event["ph"] == "X");
    let names: Vec<_> = slices
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 13);
    assert!(names.contains(&"never left"), "{names:?}");
}

#[test]
fn a_rank_behind_the_events_is_that_of_the_session() {
    let lab = Lab::new();
    let event = r#"{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":2},"#;
    let groups = r#"{"pg_name":"0","pg_desc":"default","backend_config":"cuda:nccl"},"#;
    let text = format!(
        r#"{{"schemaVersion":1,"traceEvents":[{}{{}}],"distributedInfo":{{"backend":"nccl","rank":5,"world_size":8,"pg_config":[{}{{}}]}}}}"#,
        event.repeat(1_000),
        groups.repeat(200),
    );
    fs::write(lab.base().join("libkineto_activities_77.json"), text).unwrap();
    let (session, _) = exported(&lab);
    assert_eq!(
        (&session["rank"], &session["state"]),
        (&json!(5), &json!("whole"))
    );
    assert_eq!(session["categories"]["cpu_op"]["count"], 1_000);
}

#[test]
fn statements_have_the_numbers_of_the_pages() {
    let lab = Lab::new();
    let sample = workspace_root().join("sample-runs/torch/eight-ranks");
    copy_folder(&sample, &lab.base().join("run"));
    let server = lab.start();
    server.wait_for_records(8);
    let rows = |sql: &str| {
        let body = json!({"run": "run", "sql": sql}).to_string();
        let answer = server.post("/api/profile/sql", "application/json", &body);
        (answer.status, answer.json())
    };
    let (status, answer) = rows("SELECT rank, step, duration_ns FROM steps ORDER BY rank, step");
    assert_eq!((status, &answer["cut"]), (200, &json!(false)));
    assert_eq!(answer["columns"], json!(["rank", "step", "duration_ns"]));
    let mut steps = Vec::new();
    for rank in 0..8 {
        let overview = ask(
            &server,
            "/api/profile/overview",
            &[("rank", &rank.to_string())],
        );
        for step in overview["sessions"][0]["steps"].as_array().unwrap() {
            let length =
                step["end_nanos"].as_i64().unwrap() - step["begin_nanos"].as_i64().unwrap();
            steps.push(json!([rank, step["number"], length]));
        }
    }
    assert_eq!(answer["rows"], json!(steps));
    let (_, kernels) = rows(
        "SELECT name, count(*), sum(duration_ns) AS ns FROM slices WHERE rank = 0 AND category = 'kernel' GROUP BY name ORDER BY ns DESC, name",
    );
    let table = ask(
        &server,
        "/api/profile/operators",
        &[("rank", "0"), ("by", "variant")],
    );
    let wanted: Vec<Value> = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["name"], row["calls"], row["self_nanos"]]))
        .collect();
    let there = kernels["rows"].as_array().unwrap();
    assert!(!there.is_empty());
    for row in there {
        assert!(wanted.contains(row), "{row} is not among {wanted:?}");
    }
    let (status, cut) = rows("SELECT * FROM slices a, slices b");
    assert_eq!((status, &cut["cut"]), (200, &json!(true)));
    assert_eq!(cut["rows"].as_array().unwrap().len(), 10_000);
    for (sql, reason) in [
        ("SELECT nme FROM slices", "no such column: nme"),
        (
            "DROP TABLE slices",
            "only one statement that reads is allowed",
        ),
        (
            "SELECT 1; SELECT 2",
            "only one statement that reads is allowed",
        ),
        (
            "ATTACH '/etc/passwd' AS x",
            "only one statement that reads is allowed",
        ),
    ] {
        let (status, answer) = rows(sql);
        assert_eq!(status, 400, "{sql}");
        assert!(
            answer["message"].as_str().unwrap().starts_with(reason),
            "{answer}"
        );
    }
    let long = json!({"run": "run", "sql": format!("SELECT {}1", "1 + ".repeat(20_000))});
    let answer = server.post("/api/profile/sql", "application/json", &long.to_string());
    assert_eq!(answer.status, 400);
}

#[test]
fn a_database_of_nsight_systems_has_its_kernels_calls_and_ranges() {
    let lab = Lab::new();
    let server = serve(&lab, "nsight/report.sqlite", "report ?#%41.sqlite");
    let overview = ask(&server, "/api/profile/overview", &[]);
    let session = &overview["sessions"][0];
    assert_eq!(session["format"], "nsight");
    let steps = session["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4, "{session}");
    for step in steps {
        let parts = &step["parts_nanos"];
        let numbers =
            ["kernel", "communication", "memcpy", "memset"].map(|part| parts[part].as_i64());
        assert_eq!(
            numbers.map(Option::unwrap),
            [6_000_000, 1_000_000, 500_000, 2_000]
        );
    }
    assert_eq!(session["device_name"], "NVIDIA H100 80GB HBM3");
    assert_eq!(session["device"]["utilization"], 0.7);
    let names = session["operators"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|row| row["name"].as_str().unwrap()).collect();
    // The ranges `iteration N` are the steps, and no operators.
    assert_eq!(names, ["forward", "prefetch"]);
    let rows = |sql: &str| {
        let body = json!({"run": "run", "sql": sql}).to_string();
        server
            .post("/api/profile/sql", "application/json", &body)
            .json()["rows"]
            .clone()
    };
    assert_eq!(
        rows(
            "SELECT category, count(*), sum(duration_ns), sum(bytes) FROM slices GROUP BY category"
        ),
        json!([
            ["cuda_driver", 4, 24_000, null],
            ["cuda_runtime", 20, 4 * (20_000 + 5_000 + 3 * 6_000), null],
            ["gpu_memcpy", 4, 2_000_000, 16_000_000],
            ["gpu_memset", 4, 8_000, 4_096],
            ["kernel", 16, 28_000_000, null],
            ["nvtx", 1, 1_000_000, null],
            ["user_annotation", 8, 4 * (10_000_000 + 3_999_999), null],
        ])
    );
    assert_eq!(
        rows(
            "SELECT k.name, l.name FROM slices k JOIN slices l ON l.id = k.launch WHERE k.category = 'gpu_memcpy' LIMIT 1"
        ),
        json!([["Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync"]])
    );
    assert_eq!(
        rows("SELECT kind, thread_name FROM lanes WHERE kind <> 'async' ORDER BY kind"),
        json!([["device", "stream 7"], ["host", "pt_main_thread"]])
    );
    let lanes = ask(&server, "/api/timeline/lanes", &[]);
    assert_eq!(lanes["unix_nanos"], "1764000000005000123", "{lanes}");
    let list = ask(&server, "/api/profile", &[]);
    let faults = list["sessions"][0]["faults"].to_string();
    assert!(faults.contains("calls of the operating system"), "{faults}");
}

#[test]
fn damaged_databases_are_refused_or_shown_up_to_their_damage() {
    let whole = fs::read(fixture("profile/nsight/report.sqlite")).unwrap();
    let cases: [(&str, Vec<u8>); 4] = [
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("head", whole[..100].to_vec()),
        (
            "other",
            [&whole[..4_096], &vec![0; whole.len() - 4_096]].concat(),
        ),
        (
            "flipped",
            whole
                .iter()
                .enumerate()
                .map(|(at, byte)| if at % 997 == 500 { byte ^ 0x55 } else { *byte })
                .collect(),
        ),
    ];
    let lab = Lab::new();
    for (name, bytes) in &cases {
        let folder = lab.base().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("report.sqlite"), bytes).unwrap();
    }
    let server = lab.start();
    for (name, _) in &cases {
        let path = format!("/api/profile/overview?run={name}");
        wait_for(&format!("an answer about {name}"), || {
            (server.get(&path).status == 200).then_some(())
        });
        let list = server.get(&format!("/api/profile?run={name}")).json();
        let session = &list["sessions"][0];
        assert!(
            !session["faults"].as_array().unwrap().is_empty(),
            "{name}: {session}"
        );
    }
    let done = trainscope_in(&lab.base(), &["check", "."]);
    assert!(matches!(done.status, 1 | 2), "{}", done.out);
}
