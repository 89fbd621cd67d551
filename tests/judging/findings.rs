//! Findings of the server: equal to `trainscope check` with the watchpoints next to the runs.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use trainscope_api::compare::FindingsDifference;
use trainscope_api::findings::{Counts, Findings, Hit, JudgementState, Verdict};
use trainscope_api::paths;
use trainscope_api::table::{CellValue, TablePage};

use crate::support::lab::{copy_folder, fixture, workspace_root};
use crate::support::server::query;
use crate::support::terminal::{Dump, trainscope_in};
use crate::support::{Lab, Server, wait_for};

/// Two watchpoints of one condition, which may both have hits for one tensor.
const TWO_LIMITS: &str = "\
    [[watchpoint]]\ncondition = \"tensor_too_large\"\nmax_gt = 0.05\nseverity = \"warning\"\n\n\
    [[watchpoint]]\ncondition = \"tensor_too_large\"\nmax_gt = 0.5\nseverity = \"error\"\n";

fn findings(server: &Server, run: &str) -> Findings {
    let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&[("run", run)])));
    assert_eq!(answer.status, 200, "{run}");
    serde_json::from_slice(&answer.body).unwrap()
}

/// Severity, condition, rank, step and tensor of each warning and error.
fn serious(hits: &[Value]) -> Vec<String> {
    let mut serious: Vec<String> = hits
        .iter()
        .filter(|hit| hit["severity"] != "info")
        .map(|hit| {
            let names = ["severity", "condition", "rank", "step", "tensor"];
            names.map(|name| hit[name].to_string()).join(" ")
        })
        .collect();
    serious.sort();
    serious
}

/// The runs of a server when all are read and judged.
fn judged_runs(server: &Server, least_runs: usize) -> Vec<Value> {
    wait_for("every run to be judged", || {
        let list = server.get(paths::RUNS).json();
        let runs = list["runs"].as_array().unwrap().clone();
        let is_judged = |run: &Value| !run["health"].is_null();
        let is_idle = server.status().ingest.idle;
        (is_idle && runs.len() >= least_runs && runs.iter().all(is_judged)).then_some(runs)
    })
}

/// The findings of `check` and the server are equal below a folder; returns the number of runs with a warning or an
/// error.
fn compare_with_check(lab: &Lab, folder: &Path, least_runs: usize) -> usize {
    let server = lab.start_on(&[folder], &[]);
    let runs = judged_runs(&server, least_runs);
    let checked = trainscope_in(folder, &["check", ".", "--format", "json"]).json();
    let mut by_run: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for hit in checked["hits"].as_array().unwrap() {
        by_run
            .entry(hit["run"].as_str().unwrap())
            .or_default()
            .push(hit.clone());
    }
    let mut with_hits = 0;
    for run in &runs {
        let id = run["id"].as_str().unwrap();
        // Between its first judgement and now another one may have been requested.
        let seen = wait_for("a run to be judged as it is", || {
            let seen = findings(&server, id);
            (seen.state == JudgementState::Done).then_some(seen)
        });
        let hits = serde_json::to_value(&seen.hits).unwrap();
        assert_eq!(
            seen.total,
            seen.hits.len() as u64,
            "{id}: all hits are here"
        );
        let expected = by_run.remove(id).unwrap_or_default();
        assert_eq!(
            serious(hits.as_array().unwrap()),
            serious(&expected),
            "{id}"
        );
        let counts = &run["health"]["counts"];
        let serious = counts["error"].as_u64().unwrap() + counts["warning"].as_u64().unwrap();
        assert_eq!(
            serious > 0,
            !expected.iter().all(|hit| hit["severity"] == "info"),
            "{id}"
        );
        with_hits += usize::from(serious > 0);
    }
    assert!(by_run.is_empty(), "{by_run:?}");
    with_hits
}

#[test]
fn the_page_and_the_command_line_find_the_same() {
    let with_hits = compare_with_check(&Lab::new(), &workspace_root().join("sample-runs"), 16);
    assert!(with_hits >= 5, "{with_hits}");
}

#[test]
fn a_run_has_one_number_of_hits_on_every_page() {
    let lab = Lab::new();
    let server = lab.start_on(&[&workspace_root().join("sample-runs")], &[]);
    let runs = judged_runs(&server, 16);
    let request = r#"{ "columns": ["run:hits"], "limit": 100 }"#;
    let table = server.post(paths::TABLE, "application/json", request);
    let table: TablePage = serde_json::from_value(table.json()).unwrap();
    let base = runs[0]["id"].as_str().unwrap();
    for run in &runs {
        let id = run["id"].as_str().unwrap();
        let listed: Counts = serde_json::from_value(run["health"]["counts"].clone()).unwrap();
        let seen = findings(&server, id);
        assert_eq!((seen.counts, seen.total), (listed, listed.all()), "{id}");
        let row = table.rows.iter().find(|row| row.run == id).unwrap();
        assert_eq!(
            row.cells,
            [CellValue::Number(listed.problems() as f64)],
            "{id}"
        );
        if id != base {
            let runs = query(&[("runs", &format!("{base},{id}"))]);
            let answer = server.get(&format!("{}?{runs}", paths::COMPARE)).json();
            let found = answer["others"][0]["findings"].clone();
            let found: FindingsDifference = serde_json::from_value(found).unwrap();
            let [of_base, of_other, both] = found.counts;
            let base = findings(&server, base).counts;
            for (total, alone) in [(listed, of_other), (base, of_base)] {
                let found = (alone.problems() + both.problems(), alone.info + both.info);
                assert_eq!(found, (total.problems(), total.info), "{id}");
            }
        }
    }
}

#[test]
fn they_find_the_same_in_what_other_programs_have_written() {
    let lab = Lab::new();
    let folder = lab.path("fixtures");
    copy_folder(&fixture(""), &folder);
    let packed = folder.join("dumps");
    let mut dumps = 0;
    for file in fs::read_dir(fixture("dumps")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".tar.gz") {
            copy_folder(&Dump::unpack(name).path, &packed.join(name));
            dumps += 1;
        }
    }
    assert!(dumps >= 14, "{dumps}");
    let with_hits = compare_with_check(&lab, &folder, 30);
    assert!(with_hits >= 10, "{with_hits}");
}

#[test]
fn hits_are_filtered_and_paged() {
    let lab = Lab::new();
    let samples = workspace_root().join("sample-runs/mlp");
    let server = lab.start_on(&[&samples], &[]);
    let all = wait_for("the run to be judged", || {
        let seen = findings(&server, "diverging");
        (seen.state == JudgementState::Done).then_some(seen)
    });
    assert!(all.total > 10 && all.first_cause.is_some());
    let ask = |pairs: &[(&str, &str)]| -> Findings {
        let pairs = [&[("run", "diverging")], pairs].concat();
        let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&pairs)));
        assert_eq!(answer.status, 200, "{pairs:?}");
        serde_json::from_slice(&answer.body).unwrap()
    };
    let errors = ask(&[("severity", "error")]);
    assert_eq!(errors.total, all.counts.error);
    assert_eq!(errors.counts, all.counts);
    let named = ask(&[("search", "FC1.BIAS")]);
    assert!(named.total > 0 && named.hits.iter().all(|hit| hit.tensor.contains("fc1.bias")));
    let page = ask(&[("from", "2"), ("limit", "3")]);
    assert_eq!((page.total, &page.hits[..]), (all.total, &all.hits[2..5]));
    for wrong in [
        [("limit", "0")],
        [("limit", "1000000")],
        [("severity", "bad")],
    ] {
        let pairs = [&[("run", "diverging")], &wrong[..]].concat();
        let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&pairs)));
        assert_eq!(answer.status, 400, "{wrong:?}");
    }
    let unknown = server.get(&format!("{}?{}", paths::FINDINGS, query(&[("run", "no")])));
    assert_eq!(unknown.status, 404);
}

#[test]
fn two_watchpoints_of_one_condition_are_told_apart() {
    let lab = Lab::new();
    let samples = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs/mlp/healthy"), &samples);
    fs::create_dir_all(samples.join(".trainscope")).unwrap();
    fs::write(samples.join(".trainscope/watchpoints.toml"), TWO_LIMITS).unwrap();
    let server = lab.start_on(&[&samples], &[]);
    let ask = |pairs: &[(&str, &str)]| -> Findings {
        let pairs = [&[("run", ".")], pairs].concat();
        let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&pairs)));
        serde_json::from_slice(&answer.body).unwrap_or_default()
    };
    let all = wait_for("the run to be judged", || {
        Some(ask(&[("limit", "5000")])).filter(|seen| seen.state == JudgementState::Done)
    });
    let keys: BTreeSet<String> = all.hits.iter().map(Hit::key).collect();
    assert_eq!(keys.len(), all.hits.len());
    let [low, high] = ["tensor_too_large", "tensor_too_large~2"].map(|name| {
        let found = ask(&[("watchpoint", name), ("limit", "5000")]);
        assert!(found.total > 0, "{name}");
        found
    });
    assert!(low.hits.iter().all(|hit| hit.watchpoint == 0));
    assert!(high.hits.iter().all(|hit| hit.watchpoint == 1));
    assert_eq!(low.total + high.total, all.total);
    // Each hit is found by its key, at its line.
    let wanted = high.hits.last().unwrap();
    let found = ask(&[("hit", &wanted.key()), ("limit", "1")])
        .wanted
        .unwrap();
    assert_eq!(found.hit, *wanted);
    let alone = ask(&[("line", &found.line.unwrap().to_string()), ("limit", "1")]);
    assert_eq!(alone.hits.first(), Some(wanted));
    assert_eq!(ask(&[("watchpoint", "tensor_too_large~3")]).total, 0);
    assert_eq!(ask(&[("watchpoint", "loss_nan")]).total, 0);
}

/// Title, rank and number of explained hits of the first cause are the same everywhere.
#[test]
fn the_first_cause_is_told_alike_everywhere() {
    let lab = Lab::new();
    copy_folder(
        &Dump::unpack("torch-overflow").path,
        &lab.base().join("torch"),
    );
    let diverging = workspace_root().join("sample-runs/mlp/diverging");
    copy_folder(&diverging, &lab.base().join("diverging"));
    let server = lab.start();
    for (run, ranks) in [("torch", 1), ("diverging", 2)] {
        let seen = wait_for("the run to be judged", || {
            Some(findings(&server, run)).filter(|seen| seen.state == JudgementState::Done)
        });
        let cause = seen.first_cause.as_ref().unwrap();
        assert!(cause.explains > 1, "{run}");
        assert_eq!(cause.hit.explains, Some(cause.explains), "{run}");
        assert_eq!(cause.hit.sentence, cause.sentence, "{run}");
        let at = seen.hits.iter().position(|hit| *hit == cause.hit).unwrap();
        let place = |hit: &Hit| (hit.step, hit.rank);
        let until = seen.hits[..=at].windows(2);
        let groups = 1 + until.filter(|two| place(&two[0]) != place(&two[1])).count();
        assert_eq!(cause.line, Some((at + groups) as u64), "{run}");
        assert_eq!(seen.judged.ranks, ranks, "{run}");
    }
    // Neighbours are the tensors of the node, not the worst ones of that layer; no graph gives their order.
    let seen = findings(&server, "torch");
    let cause = &seen.first_cause.as_ref().unwrap().hit;
    assert_eq!((&*cause.tensor, cause.step), ("lr", 0));
    assert!(
        seen.hits
            .iter()
            .any(|hit| (&*hit.tensor, hit.step) == ("activation/6", 1))
    );
    let pairs = [("run", "torch"), ("tensor", "activation/6"), ("step", "1")];
    let around = server.get(&format!("{}?{}", paths::NEIGHBOURS, query(&pairs)));
    let around = around.json();
    let upstream = &around["upstream"][0];
    assert_eq!(upstream["tensor"], "activation/5", "{around}");
    assert_eq!(upstream["severity"], json!(null));
    assert_eq!(around["is_guessed"], true);
}

#[test]
fn watchpoints_beside_the_runs_count_and_a_mistake_in_them_is_said() {
    let lab = Lab::new();
    let folder = lab.base().join(".trainscope");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("watchpoints.toml");
    fs::write(
        &path,
        "[[watchpoint]]\ncondition = \"loss_nan\"\nname = \"mine\"\n",
    )
    .unwrap();
    let mut recording = lab.record("run");
    recording.curve("train/loss", 0..30, |step| 1.0 / (1.0 + step as f32));
    let server = lab.start();
    let judged = |what: &str, is_so: &dyn Fn(&Findings) -> bool| {
        wait_for(what, || {
            Some(findings(&server, "run")).filter(|seen| is_so(seen))
        })
    };
    let seen = judged("the run to be judged", &|seen| {
        seen.state == JudgementState::Done
    });
    assert_eq!(seen.watchpoints.len(), 1);
    assert_eq!((&*seen.watchpoints[0].title.en, seen.total), ("mine", 0));
    assert!(seen.watchpoints_file.unwrap().ends_with("watchpoints.toml"));

    // The training fails while the server is running.
    recording.curve("train/loss", 30..31, |_| f32::NAN);
    let seen = judged("the hit", &|seen| seen.total == 1);
    assert_eq!(
        (seen.hits[0].step, &*seen.hits[0].tensor),
        (30, "train/loss")
    );
    assert_eq!(seen.counts.error, 1);

    // The error does not discard the previous watchpoints.
    fs::write(&path, "[[watchpoint]]\ncondition = \"loss_man\"\n").unwrap();
    let seen = judged("the mistake", &|seen| seen.watchpoints_problem.is_some());
    assert!(seen.watchpoints_problem.unwrap().contains("loss_man"));
    assert_eq!(seen.total, 1);
    fs::remove_file(&path).unwrap();
    let seen = judged("the recommended ones", &|seen| seen.watchpoints.len() > 10);
    assert_eq!(
        serde_json::to_value(seen.watchpoints_file).unwrap(),
        json!(null)
    );
}

fn list(server: &Server, run: &str) -> Value {
    let answer = server.get(&format!(
        "{}?{}",
        paths::WATCHPOINTS,
        query(&[("run", run)])
    ));
    assert_eq!(answer.status, 200, "{run}");
    answer.json()
}

#[test]
fn watchpoints_are_changed_and_the_second_is_told() {
    let lab = Lab::new();
    for run in ["first", "deep/second"] {
        let mut recording = lab.record(run);
        recording.curve(
            "train/loss",
            0..30,
            |step| if step == 20 { f32::NAN } else { 1.0 },
        );
    }
    let path = lab.base().join(".trainscope/watchpoints.toml");
    let server = lab.start();
    wait_for("both runs to be judged", || {
        let is_judged = |run| findings(&server, run).state == JudgementState::Done;
        (is_judged("first") && is_judged("deep/second")).then_some(())
    });
    let seen = list(&server, "first");
    assert_eq!(
        (&seen["origin"], &seen["problem"]),
        (&json!("recommended"), &json!(null))
    );
    let recommended = seen["watchpoints"].as_array().unwrap().len();
    assert!(recommended > 20);
    let change = |run: &str, only_this_run: bool, version: &Value, watchpoints: Value| {
        let body = json!({
            "run": run, "only_this_run": only_this_run, "version": version, "watchpoints": watchpoints
        });
        server.put(paths::WATCHPOINTS, &body)
    };
    let judged = |run: &str, what: &str, is_so: &dyn Fn(&Findings) -> bool| {
        wait_for(what, || {
            Some(findings(&server, run)).filter(|seen| is_so(seen))
        })
    };

    // One list for all runs; it is applied at once, and `check` reads the file too.
    let mine = json!([{"condition": "loss_nan", "name": "mine"}]);
    let made = change("first", false, &seen["version"], mine.clone()).json();
    assert_eq!(
        (&made["origin"], &made["watchpoints"]),
        (&json!("base"), &mine)
    );
    for run in ["first", "deep/second"] {
        let seen = judged(run, "the new watchpoint", &|seen| {
            seen.watchpoints.len() == 1
        });
        assert_eq!((seen.total, &*seen.hits[0].condition), (1, "loss_nan"));
    }
    assert_eq!(made["toml"], fs::read_to_string(&path).unwrap());

    // Another client has changed the previous version.
    let refused = change("first", false, &seen["version"], json!([]));
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (409, &json!("conflict"))
    );
    assert_eq!(list(&server, "first"), made);

    // A run may have a separate list, with a disabled watchpoint that no other run has.
    let off = json!([{"condition": "loss_nan", "on": false}]);
    let changed = change("deep/second", true, &made["version"], off).json();
    assert_eq!(changed["origin"], "run");
    let seen = judged("deep/second", "no hit", &|seen| seen.total == 0);
    assert!(!seen.watchpoints[0].is_on);
    assert_eq!(findings(&server, "first").total, 1);
    let file = path.to_str().unwrap();
    let checked = trainscope_in(
        &lab.base(),
        &["check", ".", "--format", "json", "--watchpoints", file],
    );
    let runs: Vec<Value> = checked.json()["hits"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(runs[0]["run"], "first");

    // Invalid watchpoints are refused with entry and key; comments survive a valid change.
    let version = &changed["version"];
    for (wrong, says) in [
        (json!([{"condition": "loss_man"}]), "loss_man"),
        (
            json!([{"condition": "loss_nan"}, {"condition": "loss_spike", "x": 1}]),
            "watchpoint 2",
        ),
        (
            json!([{"condition": "weight_not_changed", "rtol": -1}]),
            "`rtol`",
        ),
        (json!([{"name": "x"}]), "no `condition`"),
    ] {
        let refused = change("first", false, version, wrong);
        assert_eq!(refused.status, 400);
        let message = refused.json()["message"].to_string();
        assert!(message.contains(says), "{message}");
    }
    assert_eq!(change("no", false, version, json!(null)).status, 404);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("[[watchpoint]]", "# for a reason\n[[watchpoint]]", 1),
    )
    .unwrap();
    let now = list(&server, "first");
    let more = json!([{"condition": "loss_nan", "name": "mine"}, {"condition": "loss_spike"}]);
    let now = change("first", false, &now["version"], more).json();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("# for a reason") && text.contains("loss_spike"),
        "{text}"
    );

    // An invalid file is not overwritten, and the previous watchpoints stay in force.
    fs::write(&path, "[[watchpoint]\n").unwrap();
    let broken = list(&server, "first");
    assert!(
        broken["problem"].as_str().unwrap().contains("line 1"),
        "{broken}"
    );
    assert_eq!(broken["watchpoints"], now["watchpoints"]);
    assert_eq!(change("first", false, &broken["version"], mine).status, 500);
    assert_eq!(fs::read_to_string(&path).unwrap(), "[[watchpoint]\n");

    // Back to the recommended ones.
    fs::write(&path, text).unwrap();
    let seen = list(&server, "deep/second");
    let seen = change("deep/second", true, &seen["version"], json!(null)).json();
    assert_eq!(seen["origin"], "base");
    let seen = change("first", false, &seen["version"], json!(null)).json();
    assert_eq!(seen["origin"], "recommended");
    assert_eq!(seen["watchpoints"].as_array().unwrap().len(), recommended);
    judged("first", "the recommended ones", &|seen| {
        seen.watchpoints.len() == recommended
    });
}

#[test]
fn a_run_is_judged_again_and_what_lies_around_a_tensor_is_told() {
    let lab = Lab::new();
    let samples = workspace_root().join("sample-runs/mlp");
    let server = lab.start_on(&[&samples], &[]);
    let before = wait_for("the run to be judged", || {
        Some(findings(&server, "overflow")).filter(|seen| seen.state == JudgementState::Done)
    });
    let live = server.live();
    let wish = json!({"run": "overflow"}).to_string();
    assert_eq!(server.post(paths::RECHECK, "*/*", &wish).status, 200);
    live.wait_for("a word of it", |event| event.data["runs_changed"] == true);
    let after = wait_for("the end of it", || {
        let seen = findings(&server, "overflow");
        (seen.state == JudgementState::Done && seen.progress.is_none()).then_some(seen)
    });
    assert_eq!(after.hits, before.hits);
    assert_eq!(
        server
            .post(paths::RECHECK, "*/*", "{\"run\": \"no\"}")
            .status,
        404
    );

    let hit = before
        .hits
        .iter()
        .find(|hit| hit.tensor.starts_with("fc2"))
        .unwrap();
    let step = hit.step.to_string();
    let pairs = [
        ("run", "overflow"),
        ("tensor", &*hit.tensor),
        ("step", &*step),
    ];
    let around = server
        .get(&format!("{}?{}", paths::NEIGHBOURS, query(&pairs)))
        .json();
    let all = around["own"].as_array().unwrap();
    let of_hit = all.iter().find(|row| row["tensor"] == *hit.tensor).unwrap();
    assert!(of_hit["severity"].is_string(), "{around}");
    let sides = ["upstream", "downstream"].map(|side| around[side].as_array().unwrap().len());
    assert!(sides.iter().sum::<usize>() > 0, "{around}");
}

#[test]
fn new_hits_run_a_command_and_old_ones_do_not() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording
        .curve("train/loss", 0..30, |_| 1.0)
        .scalar("old/loss", 5, f32::NAN);
    // Two equal watchpoints have a hit each.
    let folder = lab.base().join(".trainscope");
    fs::create_dir(&folder).unwrap();
    let twice = "[[watchpoint]]\ncondition = \"loss_nan\"\n".repeat(2);
    fs::write(folder.join("watchpoints.toml"), twice).unwrap();
    let told = lab.path("told");
    fs::create_dir(&told).unwrap();
    let command = format!("sh -c 'cat > \"$0/$$.json\"' {}", told.display());
    let server = lab.start_with(&["--on-hit", &command]);
    wait_for("the run to be judged", || {
        (findings(&server, "run").state == JudgementState::Done).then_some(())
    });
    let known = findings(&server, "run").counts;
    recording.scalar("train/loss", 30, f32::NAN);
    let notice: Value = wait_for("the command", || {
        let file = fs::read_dir(&told).unwrap().flatten().next()?;
        serde_json::from_str(&fs::read_to_string(file.path()).ok()?).ok()
    });
    assert_eq!(
        (&notice["run"], &notice["hit"]["step"]),
        (&json!("run"), &json!(30))
    );
    assert_eq!(notice["hit"]["tensor"], "train/loss");
    assert!(!notice["title"]["en"].as_str().unwrap().is_empty());
    let now = findings(&server, "run").counts;
    let new = now.error + now.warning - known.error - known.warning;
    assert_eq!(new, 2);
    wait_for("one call for each", || {
        (fs::read_dir(&told).unwrap().count() as u64 == new).then_some(())
    });
}

#[test]
fn notes_are_kept_beside_the_runs_and_the_second_is_told() {
    let lab = Lab::new();
    lab.record("run").scalar("loss", 0, 1.0);
    let server = lab.start();
    let patch = |body: &Value| server.patch(paths::NOTEBOOK, body);
    let note =
        |version: u64, text: &str| json!({"version": version, "runs": {"run": {"note": text}}});
    assert_eq!(patch(&note(0, "best so far")).json()["version"], 1);
    let refused = patch(&note(0, "mine"));
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (409, &json!("conflict"))
    );
    assert_eq!(patch(&json!({"version": 1, "rnus": {}})).status, 400);
    let text = fs::read_to_string(lab.base().join(".trainscope/notebook.toml")).unwrap();
    assert!(text.contains("best so far"), "{text}");
    drop(server);
    let again = lab.start();
    assert_eq!(
        again.get(paths::NOTEBOOK).json()["runs"]["run"]["note"],
        "best so far"
    );
}

#[test]
fn a_run_of_scalars_alone_is_never_healthy() {
    let lab = Lab::new();
    lab.record("told").curve("train/loss", 0..10, |_| 1.0);
    lab.record("untold").curve("temperature", 0..10, |_| 1.0);
    lab.record("empty");
    let server = lab.start();
    let runs = wait_for("every run to be judged", || {
        let runs = server.runs().runs;
        (runs.len() == 3 && runs.iter().all(|run| run.health.is_some())).then_some(runs)
    });
    for run in runs {
        let is_empty = run.id == "empty";
        let expected = if is_empty {
            Verdict::Nothing
        } else {
            Verdict::InPart
        };
        assert_eq!(run.health.unwrap().verdict, expected, "{}", run.id);
        let judged = findings(&server, &run.id).judged;
        assert_eq!(judged.steps, if is_empty { 0 } else { 10 }, "{}", run.id);
    }
}
