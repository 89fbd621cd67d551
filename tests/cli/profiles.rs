//! Profiles in `diff`, `export` and `report`, and single traces as runs.

use std::fmt::Write;

use crate::cli::against::{place, trace};
use crate::cli::check::Place;
use crate::support::lab::{fixture, workspace_root};
use crate::support::terminal::{CommandOutput, trainscope_in};

fn run(place: &Place, args: &[&str]) -> CommandOutput {
    trainscope_in(place.0.path(), args)
}

fn sample(name: &str) -> String {
    let path = workspace_root().join("sample-runs/torch").join(name);
    path.display().to_string()
}

#[test]
fn the_difference_of_two_profiles_names_operators_and_parts() {
    let place = place();
    let text = run(&place, &["diff", "slow", "good", "--profile"]);
    assert_eq!(text.status, 1, "{text:?}");
    for wanted in [
        "A  slow",
        "B  good",
        "longer than the baseline",
        "step, median",
        "operators",
        "aten::mm",
    ] {
        assert!(text.out.contains(wanted), "{wanted}: {}", text.out);
    }
    let json = run(
        &place,
        &["diff", "slow", "good", "--profile", "--format", "json"],
    );
    let answer = json.json();
    assert_eq!(answer["a"]["run"], "slow");
    let median = &answer["median_step_nanos"];
    let grown = median[0].as_i64().unwrap() - median[1].as_i64().unwrap();
    assert_eq!(grown, 4_000_000, "{median}");
    let first = &answer["operators"][0];
    assert_eq!(first["name"], "aten::mm");
    let times = &first["self_step_nanos"];
    let grown = times[0].as_i64().unwrap() - times[1].as_i64().unwrap();
    assert_eq!(grown, 4_000_000, "{times}");
    // The same profile has the same length, and three steps are too few to judge.
    let same = run(&place, &["diff", "good", "good", "--profile"]);
    assert_eq!(same.status, 0, "{same:?}");
    let short = run(&place, &["diff", "short", "good", "--profile", "--quiet"]);
    assert_eq!(
        (short.status, short.out.lines().count()),
        (2, 1),
        "{short:?}"
    );
    let none = run(&place, &["diff", "curve", "good", "--profile"]);
    assert_eq!(none.status, 2);
    assert!(none.err.contains("has no profile"), "{none:?}");
    // Ranks of one session.
    let ranks = sample("eight-ranks");
    let flags = [
        "--profile",
        "--rank",
        "5",
        "--other-rank",
        "0",
        "--format",
        "json",
    ];
    let of_ranks = run(&place, &[&["diff", &ranks, &ranks], &flags[..]].concat()).json();
    assert_eq!(
        (&of_ranks["a"]["rank"], &of_ranks["b"]["rank"]),
        (&5.into(), &0.into())
    );
}

#[test]
fn a_single_trace_is_a_run_of_every_command() {
    let place = Place::new();
    place.write("a.pt.trace.json", &trace(20, 10_000, 50));
    place.write("b.pt.trace.json", &trace(20, 14_000, 50));
    let checked = run(
        &place,
        &["check", "b.pt.trace.json", "--against", "a.pt.trace.json"],
    );
    assert_eq!(checked.status, 1, "{checked:?}");
    let exported = run(&place, &["export", "a.pt.trace.json", "--kind", "steps"]);
    assert_eq!(exported.status, 0, "{exported:?}");
    assert!(exported.out.lines().count() > 20, "{exported:?}");
    let differs = run(
        &place,
        &["diff", "b.pt.trace.json", "a.pt.trace.json", "--profile"],
    );
    assert_eq!(differs.status, 1, "{differs:?}");
    let reported = run(&place, &["report", "a.pt.trace.json", "-o", "-"]);
    assert_eq!(reported.status, 0, "{reported:?}");
    assert!(reported.out.contains("id=\"profile\""));
    place.write("notes.txt", b"no run");
    let none = run(&place, &["export", "notes.txt", "--kind", "profile"]);
    assert_eq!(none.status, 2);
    assert!(none.err.contains("no runs found in notes.txt"), "{none:?}");
}

#[test]
fn a_trace_whose_events_come_late_is_found_by_its_content() {
    let place = Place::new();
    let events = String::from_utf8(trace(20, 10_000, 50)).unwrap();
    let events = events.trim_start().strip_prefix('{').unwrap();
    let about = "x".repeat(26_000);
    let whole = format!(r#"{{"metadata": {{"environment": "{about}"}}, {events}"#);
    place.write("result.json", whole.as_bytes());
    let exported = run(&place, &["export", "result.json", "--kind", "steps"]);
    assert_eq!(exported.status, 0, "{exported:?}");
    assert!(exported.out.lines().count() > 20, "{exported:?}");
}

#[test]
fn a_report_has_the_profile_in_both_languages() {
    let place = place();
    let run_of = sample("eight-ranks");
    for (language, wanted) in [
        (
            "en",
            [
                "A step takes",
                "Part of a step",
                "Self time a step",
                "Slow steps",
            ],
        ),
        (
            "zh",
            ["每个迭代", "迭代的组成", "每个迭代自身耗时", "慢迭代数"],
        ),
    ] {
        let page = run(&place, &["report", &run_of, "-o", "-", "--lang", language]).out;
        for text in wanted {
            assert!(page.contains(text), "{language} {text}");
        }
        // The advice about the slow rank, and a row for each rank.
        assert!(page.contains(if language == "en" {
            "for rank 5"
        } else {
            "等待 rank 5"
        }));
    }
    let with_memory = fixture("profile/torch-cnn/plain.pt.trace.json.gz");
    let with_memory = with_memory.display().to_string();
    let page = run(&place, &["report", &with_memory, "-o", "-"]).out;
    assert!(page.contains("Peak of memory, device"));
    let without = run(&place, &["report", "curve", "-o", "-"]).out;
    assert!(!without.contains("id=\"profile\""));
}

#[test]
fn a_timeline_is_exported_as_a_picture_with_the_names_of_its_lanes() {
    let place = place();
    let export = |flags: &[&str]| {
        let all = ["export", "good", "--kind", "timeline"];
        run(&place, &[&all, flags].concat())
    };
    let whole = export(&["--format", "svg"]).out;
    assert!(
        whole.starts_with("<svg") && whole.ends_with("</svg>\n"),
        "{whole}"
    );
    for wanted in ["good · ", "rank 0", ">19<"] {
        assert!(whole.contains(wanted), "{wanted}: {whole}");
    }
    let part = export(&["--format", "svg", "--from", "0ms", "--until", "5ms"]).out;
    assert!(
        part.contains("aten::mm") && !part.contains(">19<"),
        "{part}"
    );
    let png = export(&["--format", "png", "-o", "picture.png"]);
    assert_eq!(png.status, 0, "{png:?}");
    let bytes = std::fs::read(place.0.path().join("picture.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    let none = export(&["--format", "svg", "--from", "5ms", "--until", "5ms"]);
    assert_eq!(none.status, 2, "{none:?}");
    let graph = run(
        &place,
        &["export", "good", "--kind", "steps", "--format", "png"],
    );
    assert_eq!(graph.status, 2, "{graph:?}");
}

#[test]
fn memory_over_time_is_exported_from_the_file_beside_a_trace_without_events() {
    let place = place();
    // Two moments in microseconds since 1970, within the trace, and nine categories of each.
    let timeline = "[[1000000000002000, 1000000000003000], [[0, 7, 0, 0, 0, 5, 0, 0, 1], [0, 7, 0, 0, 0, 0, 0, 0, 1]]]";
    place.write("good/memory_timeline.json", timeline.as_bytes());
    let exported = run(&place, &["export", "good", "--kind", "memory"]);
    let rows: Vec<&str> = exported.out.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{exported:?}");
    assert!(rows[0].ends_with(",1000000,13,"), "{rows:?}");
    assert!(rows[1].ends_with(",2000000,8,"), "{rows:?}");
    // Without a trace it is a separate session, which begins with its first point.
    place.write("alone/memory_timeline.json", timeline.as_bytes());
    let alone = run(&place, &["export", "alone", "--kind", "memory"]);
    let rows: Vec<&str> = alone.out.lines().skip(1).collect();
    assert_eq!(
        rows,
        ["memory_timeline,0,,0,13,", "memory_timeline,0,,1000000,8,"]
    );
    place.write("empty/memory_timeline.json", b"[[], []]");
    let empty = run(
        &place,
        &["export", "empty", "--kind", "profile", "--format", "json"],
    )
    .json();
    assert_eq!(empty["sessions"][0]["state"], "unreadable", "{empty}");
}

/// Steps of an Ascend device in ticks of 10 ns: forward begins 50 µs after the step, and `late` ticks later on this
/// rank.
fn step_trace(late: i64) -> String {
    let mut text = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail,\
                    stream_20_0_AllReduce-op7_start_point,stream_20_0_AllReduce-op7_end_point,stream_20_0_AllReduce-op7\n"
        .to_owned();
    for step in 1..=12 {
        let begin = 1_000_000 + step * 100_000;
        let (forward, backward, end) = (begin + 5_000, begin + 70_000 + late, begin + 100_000);
        let (from, to) = (backward, end - 10_000);
        let _infallible = writeln!(
            text,
            "{step},{begin},{end},100000,{forward},{backward},5000,{},{},{from},{to},{}",
            backward - forward,
            end - backward,
            to - from
        );
    }
    text + "-,0,0,100000,0,0,5000,65000,30000,0,0,20000\n"
}

#[test]
fn tables_of_an_npu_are_a_run_with_steps_operators_and_ranks() {
    let place = Place::new();
    for rank in 0..4 {
        let late = if rank == 2 { 15_000 } else { 0 };
        let text = step_trace(late);
        let name = format!("pipeline/step_trace_raw_{rank}_detail_time.csv");
        place.write(&name, text.as_bytes());
        let link = format!(
            "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n\
             1,0.2,0.1,\"{{\"\"{}-{rank}\"\": {{\"\"SDMA\"\": [0.25, 1324.5, 1]}}}}\",{{}}\n",
            rank ^ 1
        );
        place.write(&format!("pipeline/hccl_raw_{rank}.csv"), link.as_bytes());
    }
    let ranks = run(
        &place,
        &["export", "pipeline", "--kind", "ranks", "--format", "json"],
    )
    .json();
    assert_eq!(ranks.as_array().unwrap().len(), 4, "{ranks}");
    // Compute is everything but the interval and the collective: 750 µs, and 150 µs more on one rank.
    let compute: Vec<i64> = (ranks.as_array().unwrap().iter())
        .map(|rank| rank["compute_nanos"].as_i64().unwrap() / 12)
        .collect();
    assert_eq!(compute, [750_000, 750_000, 900_000, 750_000]);
    place.write(
        "one/profiler/step_trace_raw_3_detail_time.csv",
        step_trace(0).as_bytes(),
    );
    let mut timeline = "op_name, stream_id, start_time(ms), duration(ms)\n".to_owned();
    for step in 1..=6 {
        let begin = 10.1 + f64::from(step);
        let _infallible = writeln!(
            timeline,
            "Default/net/MatMul-op1,19,{begin:.5},0.4\nDefault/Send-op2,21,{begin:.5},0.1"
        );
    }
    place.write(
        "one/profiler/output_timeline_data_3.txt",
        timeline.as_bytes(),
    );
    place.write(
        "one/profiler/framework_raw_3.csv",
        b"full_kernel_name,op_info\nDefault/net/MatMul-op1,\"{\"\"input_0\"\": {\"\"shape\"\": [8, 4]}}\"\n",
    );
    place.write(
        "one/profiler/flops_3.txt",
        b"full_kernel_name, MFLOPs(10^6 cube)\nDefault/net/MatMul-op1, 2.5",
    );
    let of = |args: &[&str]| {
        let format = ["--format", "json"];
        run(
            &place,
            &[&["export", "one", "--kind"], args, &format].concat(),
        )
        .json()
    };
    let profile = of(&["profile"]);
    let session = &profile["sessions"][0];
    assert_eq!(
        (&session["format"], &session["rank"], &session["steps_from"]),
        (&"mindspore".into(), &3.into(), &"table".into())
    );
    assert_eq!(
        (&session["step_count"], &session["mean_step_nanos"]),
        (&12.into(), &1_000_000.into())
    );
    // Only these steps have their operators.
    assert_eq!(session["whole_steps"], 6);
    let parts = &session["mean_parts_nanos"];
    assert_eq!(
        (&parts["kernel"], &parts["data"], &parts["communication"]),
        (&400_000.into(), &50_000.into(), &200_000.into())
    );
    assert!(
        session["sentence"]["en"]
            .as_str()
            .unwrap()
            .contains("the NPU waits"),
        "{session}"
    );
    let operators = of(&["operators", "--by", "shape"]);
    let matmul = &operators[0];
    assert_eq!(matmul["name"], "Default/net/MatMul-op1");
    assert_eq!(
        (&matmul["calls"], &matmul["shapes"]),
        (&6.into(), &"[[8, 4]]".into())
    );
    assert_eq!(
        (&matmul["device_self_nanos"], &matmul["flops"]),
        (&2_400_000.into(), &15_000_000.into())
    );
    let kernels = of(&["operators", "--by", "kernel"]);
    let types: Vec<&str> = (kernels.as_array().unwrap().iter())
        .map(|row| row["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["communication", "AI Core", "communication"]);
}

#[test]
fn files_of_profilers_that_no_reader_takes_are_named_where_nothing_else_is() {
    let place = Place::new();
    place.write("data/profiler/flops_summary_0.json", b"{}");
    place.write("report.nsys-rep", b"");
    for (path, wanted) in [
        ("data", "profiler/flops_summary_0.json: not read: sums"),
        (
            "report.nsys-rep",
            "report.nsys-rep: not read: a report of Nsight Systems",
        ),
    ] {
        let none = run(&place, &["export", path, "--kind", "profile"]);
        assert_eq!(none.status, 2, "{none:?}");
        assert!(none.err.contains(wanted), "{none:?}");
    }
}
