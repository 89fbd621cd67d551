//! Values of tensors: the API returns those of `NumPy`, folders with tensors only are runs, and the page leads from a
//! chart to single values.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_api::runs::FileStatus;

use crate::support::lab::{copy_folder, fixture, workspace_root};
use crate::support::server::query;
use crate::support::terminal::Dump;
use crate::support::{Browser, Lab, Server, wait_for};

/// Rows of the list of tensors.
const ROWS: &str = "[aria-label=Tensors] a";
/// Cells of the table of elements, those that have been read.
const CELLS: &str = "[data-part=sheet] i:not([data-kind=wait])";
/// Cells of −∞.
const NEGATIVE_INFINITY: &str = "[data-part=sheet] [data-kind=ninf]";
/// Cells whose difference is within the tolerance.
const ALIKE: &str = "[data-part=sheet] [data-kind=alike]";

/// A server over a folder with arrays only, one file each, by step.
pub(crate) fn odd(lab: &Lab) -> Server {
    copy_folder(&fixture("tensors/odd"), &lab.base().join("odd"));
    let server = lab.start();
    wait_for("the run", || server.run("odd"));
    server
}

fn ask(server: &Server, path: &str, tensor: &str, more: &[(&str, &str)]) -> (u16, Value) {
    let pairs = [&[("run", "odd"), ("tensor", tensor)], more].concat();
    let answer = server.get(&format!("{path}?{}", query(&pairs)));
    (answer.status, answer.json())
}

#[test]
fn values_are_those_that_numpy_has() {
    let lab = Lab::new();
    let server = odd(&lab);
    let truth = fs::read(fixture("tensors/odd/truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let mut compared = 0;
    for (tensor, slices) in truth.as_object().unwrap() {
        for expected in slices.as_array().unwrap() {
            let step = expected["step"].to_string();
            let slice = expected["slice"].as_str().unwrap();
            let more = [("step", &*step), ("slice", slice)];
            let (status, answer) = ask(&server, paths::TENSOR, tensor, &more);
            assert_eq!(status, 200, "{tensor} {slice}: {answer}");
            let numbers = |values: &Value| -> Vec<String> {
                let values = values.as_array().unwrap().iter();
                // 1 and 1.0 are the same number.
                let word = |value: &Value| match value.as_f64() {
                    Some(number) => format!("{number:?}"),
                    None => value.as_str().unwrap().to_owned(),
                };
                values.map(word).collect()
            };
            assert_eq!(
                numbers(&answer["values"]),
                numbers(&expected["values"]),
                "{tensor} {slice}"
            );
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn every_odd_tensor_has_a_designed_answer() {
    let lab = Lab::new();
    let server = odd(&lab);
    for (tensor, slice, status, says) in [
        ("objects", "0", 404, "of the type Python object"),
        ("complex", "0", 404, "values of that type are not shown"),
        ("cut", "63,0", 404, "it ends at byte 3000"),
        ("cut", "0,0", 200, ""),
        ("giant", "-1,-1", 404, "it ends at byte 168"),
        ("giant", "0,0:10", 200, ""),
        ("empty", "0", 200, ""),
        ("half", ":", 400, "at most two axes"),
        ("layer.weight", "9", 400, "it has 2 indices"),
        ("layer.weight", "1:2:3", 400, "a stride is not understood"),
        ("nothing", "0", 404, "has no values of `nothing`"),
        ("../../etc/passwd", "0", 404, "has no values"),
    ] {
        let (got, answer) = ask(&server, paths::TENSOR, tensor, &[("slice", slice)]);
        assert_eq!(got, status, "{tensor} {slice}: {answer}");
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(message.contains(says), "{tensor} {slice}: {message}");
    }
    // A missing step is answered with the nearest one.
    let (status, answer) = ask(&server, paths::TENSOR, "layer.weight", &[("step", "3")]);
    assert_eq!(status, 404);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("the nearest are at 2 and 5"), "{message}");
    // A file that vanishes between two scans.
    fs::remove_file(lab.base().join("odd/steps/5/layer.weight.npy")).unwrap();
    let (status, answer) = ask(&server, paths::TENSOR, "layer.weight", &[("step", "5")]);
    assert_eq!(status, 404, "{answer}");
    wait_for("the step to be forgotten", || {
        let (_, answer) = ask(&server, paths::TENSOR, "layer.weight", &[]);
        (answer["step"] == 2).then_some(())
    });
}

#[test]
fn what_a_slice_comes_to_and_how_it_differs() {
    let lab = Lab::new();
    let server = odd(&lab);
    let tensor = "layer.weight";
    let (status, answer) = ask(
        &server,
        paths::TENSOR_SUMMARY,
        tensor,
        &[("step", "5"), ("bins", "8"), ("compare", "previous")],
    );
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["stats"]["count"], 3_600);
    assert_eq!(answer["stats"]["nan"], 1);
    assert_eq!(answer["positions"]["nan"], json!([1, 2, 11, 17]));
    assert_eq!(answer["positions"]["pos_inf"], json!([1, 2, 12, 3]));
    assert_eq!(answer["positions"]["neg_inf"], json!([0, 0, 0, 0]));
    let histogram = &answer["histogram"];
    let counted: u64 = histogram["counts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!(counted, 3_597);
    assert_eq!(
        (&histogram["below"], &histogram["above"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(answer["change"]["changed"], 3_600);
    // The indices of minimum and maximum are correct.
    for (extreme, place) in [("min", "min"), ("max", "max")] {
        let indices: Vec<String> = answer["positions"][place]
            .as_array()
            .unwrap()
            .iter()
            .map(Value::to_string)
            .collect();
        let slice = indices.join(",");
        let (_, value) = ask(
            &server,
            paths::TENSOR,
            tensor,
            &[("step", "5"), ("slice", &slice)],
        );
        assert_eq!(value["values"][0], answer["stats"]["finite"][extreme]);
    }

    let (_, answer) = ask(
        &server,
        paths::TENSOR,
        tensor,
        &[
            ("step", "5"),
            ("slice", "1,2,12,2:4"),
            ("compare", "step:1"),
        ],
    );
    let compared = &answer["compared"];
    assert_eq!(compared["step"], 1);
    assert_eq!(compared["beyond"], 2);
    assert_eq!(compared["differences"][1], "Infinity");
    let number = |value: &Value| value.as_f64().unwrap();
    let difference = number(&answer["values"][0]) - number(&compared["values"][0]);
    assert!((number(&compared["differences"][0]) - difference).abs() < 1e-12);

    // Over steps: all of them, each with its statistics.
    let (_, history) = ask(&server, paths::TENSOR_HISTORY, tensor, &[]);
    let steps: Vec<&Value> = history["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["step"])
        .collect();
    assert_eq!(steps, [1, 2, 5]);
    assert_eq!(history["points"][2]["stats"]["pos_inf"], 1);
    assert_eq!(history["pending_bytes"], 0);
    // A table of text has the text of the cells.
    let pairs = query(&[("run", "odd"), ("tensor", "vector"), ("format", "csv")]);
    let file = server.get(&format!("{}?{pairs}", paths::TENSOR_FILE));
    assert_eq!(
        String::from_utf8(file.body)
            .unwrap()
            .lines()
            .collect::<Vec<_>>(),
        [
            "9223372036854775807",
            "-9223372036854775808",
            "9007199254740992",
            "9007199254740993",
            "-7"
        ]
    );
    // A whole file is returned unchanged.
    let pairs = query(&[("run", "odd"), ("tensor", "half")]);
    let file = server.get(&format!("{}?{pairs}", paths::TENSOR_FILE));
    let written = fs::read(fixture("tensors/odd/steps/2/half.npy")).unwrap();
    assert_eq!(
        file.body[file.body.len() - 1_024..],
        written[written.len() - 1_024..]
    );
}

#[test]
fn folders_of_tensors_are_runs_and_what_lies_beside_them_is_a_part() {
    let lab = Lab::new();
    let dump = Dump::unpack("torch-overflow");
    copy_folder(&dump.path, &lab.base().join("torch"));
    let server = lab.start();
    let run = wait_for("the run to be judged", || {
        server.run("torch").filter(|run| run.health.is_some())
    });
    assert_eq!(server.run_ids(), ["torch"], "`tb` is a part of it");
    assert_eq!(run.kinds["tensors"], 34);
    assert!(run.kinds.contains_key("scalars"));
    assert_eq!(run.last_step, Some(7));
    assert!(
        run.health.unwrap().counts.error
            + server.run("torch").unwrap().health.unwrap().counts.warning
            > 0
    );
    let formats = |format: &str| {
        run.files
            .iter()
            .filter(|file| file.format == format)
            .count()
    };
    assert_eq!((formats("safetensors"), formats("tfevents")), (8, 1));

    // A step written while the server runs appears, and an invalid one is reported.
    let steps = lab.base().join("torch/steps");
    fs::write(steps.join("step_00008.safetensors"), [255; 1_000]).unwrap();
    wait_for("the new step", || {
        server.run("torch").filter(|run| run.last_step == Some(8))
    });
    let damaged = wait_for("the damage to be seen", || {
        let files = server.run("torch")?.files;
        files
            .into_iter()
            .find(|file| file.status == FileStatus::Damaged)
    });
    assert!(
        damaged.path.ends_with("step_00008.safetensors"),
        "{damaged:?}"
    );
    // Without its tensors it is the same run with its other data.
    fs::remove_dir_all(&steps).unwrap();
    wait_for("the tensors to go", || {
        (server.run_ids() == ["torch/tb"]).then_some(())
    });
}

#[test]
fn a_history_is_asked_for_between_two_steps() {
    let lab = Lab::new();
    let dump = Dump::unpack("torch-overflow");
    copy_folder(&dump.path, &lab.base().join("odd"));
    let server = lab.start();
    wait_for("the run", || server.run("odd"));
    let (status, all) = ask(&server, paths::TENSOR_INDEX, "", &[]);
    assert_eq!(status, 200);
    let name = all["tensors"][0]["tensor"].as_str().unwrap();
    let between = [("from", "2"), ("to", "4")];
    let (_, history) = ask(&server, paths::TENSOR_HISTORY, name, &between);
    let points = history["points"].as_array().unwrap().iter();
    let steps: Vec<i64> = points
        .map(|point| point["step"].as_i64().unwrap())
        .collect();
    assert_eq!(steps, [2, 3, 4]);
    assert_eq!(
        (&history["total"], &history["cut"]),
        (&3.into(), &false.into())
    );
}

#[test]
fn tensors_are_listed_by_name_role_and_rank() {
    let lab = Lab::new();
    let dump = Dump::unpack("torch-npy");
    copy_folder(&dump.path, &lab.base().join("odd"));
    let server = lab.start();
    wait_for("the run", || server.run("odd"));
    let list = |more: &[(&str, &str)]| {
        let pairs = [&[("run", "odd")], more].concat();
        server
            .get(&format!("{}?{}", paths::TENSOR_INDEX, query(&pairs)))
            .json()
    };
    let all = list(&[]);
    assert_eq!((&all["total"], &all["cut"]), (&json!(34), &json!(false)));
    assert_eq!(
        all["roles"],
        json!({"activation": 9, "gradient": 17, "weight": 8})
    );
    let weights = list(&[("role", "weight"), ("limit", "3")]);
    assert_eq!(
        (&weights["total"], &weights["cut"]),
        (&json!(8), &json!(true))
    );
    assert_eq!(weights["tensors"].as_array().unwrap().len(), 3);
    let found = list(&[("search", "WEIGHT/8.B")]);
    assert_eq!(
        found["tensors"],
        json!([{
            "tensor": "weight/8.bias", "role": "weight", "ranks": [0], "dtype": "f32", "shape": [4],
            "sources": [{"source": "dump", "steps": 4, "first_step": 0, "last_step": 3}],
        }])
    );
    assert_eq!(list(&[("rank", "1")])["total"], 0);
    for bad in ["0", "5001"] {
        let pairs = query(&[("run", "odd"), ("limit", bad)]);
        let answer = server.get(&format!("{}?{pairs}", paths::TENSOR_INDEX));
        assert_eq!(answer.status, 400);
    }
}

#[tokio::test]
async fn from_a_tensor_to_its_first_nan() {
    let lab = Lab::new();
    let server = odd(&lab);
    let browser = Browser::open().await;
    browser
        .goto(&server, "/run/odd/tensors?tensor=vector")
        .await;
    // Integers beyond the browser's exact numbers are complete; in a narrow cell they are not cut to other numbers.
    browser.wait_for_text("9.22e18").await;
    browser
        .goto(&server, "/run/odd/tensors?tensor=vector&at=0,0")
        .await;
    browser.wait_for_text("[0] = 9223372036854775807").await;
    browser.click("a[title='layer.weight']").await;
    browser.wait_for_text("layer.weight").await;
    browser.wait_for_text("step 5").await;
    // Step 5 has one −∞ in view, and looks different from step 1.
    browser.wait_for_element(NEGATIVE_INFINITY).await;
    browser.set("input[type=range][aria-label=Step]", "0").await;
    browser.wait_for_text("step 1").await;
    let positive = "return [...document.querySelectorAll('[data-part=sheet] i')].some(cell => parseFloat(cell.textContent) > 0)";
    browser
        .wait_for("the values of step 1", async || {
            let is_there = browser.run(positive).await == true;
            (browser.count(NEGATIVE_INFINITY).await == 0 && is_there).then_some(())
        })
        .await;
    assert!(browser.url().await.contains("step=1"));
    browser.press('\u{e014}').await;
    browser.press('\u{e014}').await;
    browser.wait_for_element(NEGATIVE_INFINITY).await;
    assert!(browser.url().await.contains("step=5"));

    // The first NaN is in another plane of the tensor: one click leads to it.
    browser
        .click_text("[data-part=jump] button", "first NaN")
        .await;
    browser
        .wait_for_element("[data-part=sheet] [data-kind=nan][aria-current]")
        .await;
    browser.wait_for_text("[1, 2, 11, 17] = NaN").await;
    assert!(
        browser.url().await.contains("at=11,17"),
        "{}",
        browser.url().await
    );

    // A typed slice, compared with the previous step: cells have the values of the API.
    browser.set("input[aria-label=Slice]", "0,1,4:6,7:9").await;
    browser.wait_for_count(CELLS, 4).await;
    browser
        .click_text("[role=group][aria-label=Values] button", "Difference")
        .await;
    browser.wait_for_text("4 of 4 differ").await;
    let more = [("step", "5"), ("slice", "0,1,4,7"), ("compare", "previous")];
    let (_, answer) = ask(&server, paths::TENSOR, "layer.weight", &more);
    let difference = answer["compared"]["differences"][0].as_f64().unwrap();
    browser.click(CELLS).await;
    browser
        .wait_for_text(&format!("[0, 1, 4, 7] = {difference:?}"))
        .await;
    browser.show("tensors").await;
    browser.close();
}

#[tokio::test]
async fn a_comparison_has_a_tolerance_of_ones_own() {
    let lab = Lab::new();
    let server = odd(&lab);
    let browser = Browser::open().await;
    let page = "/run/odd/tensors?tensor=layer.weight&step=5&compare=previous";
    browser.goto(&server, page).await;
    browser.wait_for_text("600 of 600 differ").await;
    assert_eq!(browser.count(ALIKE).await, 0);
    // No two of these normal numbers differ by ten, but −∞ does.
    browser.fill("input[name=absolute]", "10\u{e007}").await;
    browser.wait_for_text("1 of 600 differ").await;
    assert!(browser.url().await.contains("atol=10"));
    browser.wait_for_element(ALIKE).await;
    assert!(browser.count(NEGATIVE_INFINITY).await == 1);
    // An invalid tolerance leaves the default.
    browser.fill("input[name=absolute]", "-1\u{e007}").await;
    browser.wait_for_text("600 of 600 differ").await;
    // A share of the other element.
    browser
        .fill("input[name=relative]", "1000000\u{e007}")
        .await;
    browser.wait_for_text("1 of 600 differ").await;
    browser.close();
}

/// An npy file of zeros, sparse on disk.
fn write_zeros(path: &Path, shape: &str, bytes: u64) {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    file.extend(header.as_bytes());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, &file).unwrap();
    let all = fs::OpenOptions::new().write(true).open(path).unwrap();
    all.set_len(file.len() as u64 + bytes).unwrap();
}

#[tokio::test]
async fn thousands_of_tensors_are_listed_as_far_as_they_are_in_view() {
    let lab = Lab::new();
    for number in 0..3_000 {
        let name = format!("steps/1/layer{:02}.part{number:04}.npy", number / 100);
        write_zeros(&lab.base().join("run").join(name), "2,", 8);
    }
    let server = lab.start();
    wait_for("the run", || server.run("run"));
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/tensors").await;
    browser
        .wait_for_element("a[title='layer00.part0000']")
        .await;
    let rows = browser.count(ROWS).await;
    assert!((20..120).contains(&rows), "{rows}");
    // The end of the list is one turn of the wheel away.
    let list = "document.querySelector('[aria-label=Tensors] [role=navigation]')";
    browser
        .run(&format!("{list}.scrollTop = {list}.scrollHeight"))
        .await;
    browser.click("a[title='layer29.part2999']").await;
    browser.wait_for_text("layer29.part2999").await;
    let height = format!("return {list}.scrollHeight");
    let all = browser.run(&height).await.as_u64().unwrap();
    assert_eq!(all, 26 * (3_000 + 30));
    // A collapsed group takes no room.
    browser.run(&format!("{list}.scrollTop = 26 * 2920")).await;
    browser
        .click("button[title=layer29][aria-expanded=true]")
        .await;
    browser
        .wait_for("a shorter list", async || {
            let now = browser.run(&height).await.as_u64()?;
            (now == all - 26 * 100).then_some(())
        })
        .await;
    // `j` selects the next one anywhere, and scrolls it into view.
    browser.click("a[title='layer28.part2890']").await;
    browser.run(&format!("{list}.scrollTop = 0")).await;
    browser.press('j').await;
    browser
        .wait_for_element("a[title='layer28.part2891'][aria-current]")
        .await;
    browser.close();
}

#[tokio::test]
async fn a_large_tensor_is_looked_at_when_somebody_asks() {
    let lab = Lab::new();
    let path = lab.base().join("run/steps/1/weight.npy");
    write_zeros(&path, "5000, 4000", 80_000_000);
    let server = lab.start();
    wait_for("the run", || server.run("run"));
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/tensors").await;
    browser.wait_for_text("Read all").await;
    browser
        .wait_until("document.querySelector('[data-part=sheet] i')?.textContent == '0'")
        .await;
    let [jumps, bins] = ["[data-part=jump] button", "[data-part=bins]"];
    let of_all = format!("{jumps}, {bins}");
    assert_eq!(browser.count(&of_all).await, 0);
    let read_all = "[data-part=read-all]";
    browser.click(read_all).await;
    browser.wait_for_element(jumps).await;
    browser.wait_for_element(bins).await;
    browser.wait_for_text("20,000,000").await;
    assert_eq!(browser.count(read_all).await, 0);
    browser.close();
}

#[tokio::test]
async fn tensors_of_any_rank_and_of_no_elements_have_pictures_and_words() {
    let lab = Lab::new();
    let server = odd(&lab);
    let browser = Browser::open().await;
    for (tensor, cells, says) in [
        ("scalar", 1, "f64"),
        ("vector", 5, "9.22e18"),
        ("half", 4, "2×2×2×2×2×2×2×2×2"),
        ("empty", 0, "This slice has no elements"),
        ("objects", 0, "Python object"),
        ("cut", 0, "it ends at byte 3000"),
    ] {
        let page = format!("/run/odd/tensors?tensor={tensor}");
        browser.goto(&server, &page).await;
        browser.wait_for_text(says).await;
        browser
            .wait_for(&format!("{cells} cells of {tensor}"), async || {
                (browser.count(CELLS).await == cells).then_some(())
            })
            .await;
    }
    // Unreadable files are in the console.
    browser.close_despite("/api/tensor");
}

#[tokio::test]
async fn a_step_without_values_leads_to_those_with_them() {
    let lab = Lab::new();
    let diverging = workspace_root().join("sample-runs/mlp/diverging");
    copy_folder(&diverging, &lab.base().join("run"));
    let server = lab.start();
    let pairs = [
        ("run", "run"),
        ("tensor", "fc1.weight"),
        ("elements", "true"),
    ];
    let history = wait_for("the steps with values", || {
        let answer = server.get(&format!("{}?{}", paths::TENSOR_HISTORY, query(&pairs)));
        Some(answer.json()).filter(|history| history["total"] != 0)
    });
    let points = history["points"].as_array().unwrap();
    let steps: Vec<&Value> = points.iter().map(|point| &point["step"]).collect();
    assert!(
        steps.contains(&&json!(0)) && steps.contains(&&json!(100)),
        "{steps:?}"
    );
    assert!(
        !steps.contains(&&json!(60)) && points[0]["stats"].is_null(),
        "{history}"
    );

    let browser = Browser::open().await;
    let page = "/run/run/tensors?tensor=fc1.weight&step=60&rank=";
    browser.goto(&server, &format!("{page}1")).await;
    browser
        .wait_for_text("Only statistics were recorded at step 60")
        .await;
    browser
        .wait_for_element("[title='Steps at which all values were recorded'] path")
        .await;
    // Its hits are in this rank alone.
    browser
        .wait_for_element("[data-severity=error]:has(+ h1)")
        .await;
    browser.click_text("[role=status] button", "step 100").await;
    browser.wait_for_element(CELLS).await;
    assert!(browser.url().await.contains("step=100"));
    browser.press('\u{e012}').await;
    browser
        .wait_until("location.search.includes('step=0')")
        .await;
    browser.goto(&server, &format!("{page}0")).await;
    browser
        .wait_until(
            "document.querySelector('[aria-label=Tensors] a') && !document.querySelector('[data-severity]:has(+ h1)')",
        )
        .await;
    browser.close();
}
