//! `trainscope report`: one file for a browser without a server, with all findings; names are escaped.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::browser::Browser;
use crate::support::lab::{Recording, copy_folder, workspace_root};
use crate::support::terminal::{CommandOutput, trainscope_in};

/// Writes a report of a run and returns its text.
fn report(run: &Path, flags: &[&str]) -> (CommandOutput, String) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("report.html");
    let (run, to) = (run.display().to_string(), path.display().to_string());
    let printed = trainscope_in(
        Path::new("."),
        &[&["report", &run, "-o", &to], flags].concat(),
    );
    (printed, fs::read_to_string(path).unwrap_or_default())
}

fn sample(name: &str) -> std::path::PathBuf {
    workspace_root().join("sample-runs").join(name)
}

#[test]
fn a_report_is_one_file_that_loads_nothing() {
    for name in [
        "mlp/overflow",
        "mlp/healthy",
        "torch/run1",
        "mindspore/healthy",
        "mlp/torn",
        "mlp/diverging",
        "candle",
    ] {
        let (printed, page) = report(&sample(name), &[]);
        assert_eq!(printed.status, 0, "{name}: {printed:?}");
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.contains("</html>"),
            "{name}"
        );
        assert!(
            page.contains("default-src 'none'") && page.contains("style-src 'sha256-"),
            "{name}"
        );
        for word in [
            "<script",
            "javascript:",
            "http://",
            "https://",
            "style=\"",
            "@import",
            "url(",
        ] {
            // The namespace URI is not loaded.
            let page = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!page.contains(word), "{name}: {word}");
        }
        assert!(page.len() < 2 << 20, "{name}: {} bytes", page.len());
    }
}

#[test]
fn a_report_against_another_run_says_what_diff_says() {
    let [base, other] = ["mindspore/healthy", "mindspore/overflow"].map(sample);
    let [a, b] = [&base, &other].map(|path| path.display().to_string());
    let answer = trainscope_in(Path::new("."), &["diff", &a, &b, "--format", "json"]).json();
    let sentence = answer["sentence"].as_str().unwrap();
    let (printed, page) = report(&other, &["--against", &a]);
    assert_eq!(printed.status, 0, "{printed:?}");
    let from = page.find("Compared with").expect("a section");
    let section = &page[from..page[from..].find("</section>").unwrap() + from];
    assert!(section.contains(sentence), "{sentence}: {section}");
    let first = answer["first"]["name"].as_str().unwrap();
    assert!(section.contains(first), "{first}");
    for setting in answer["configuration"].as_array().unwrap().iter().take(10) {
        let key = setting["key"].as_str().unwrap();
        assert!(
            section.contains(&format!("<td>{key}</td>")),
            "{key}: {section}"
        );
    }
    // A run compared with itself has nothing to list.
    let (_, page) = report(&base, &["--against", &a, "--lang", "zh"]);
    assert!(page.contains("对比") && !page.contains("最先出现差异"));
    let (printed, _) = report(&base, &["--tolerance", "0.1"]);
    assert_eq!(printed.status, 2, "a tolerance of nothing: {printed:?}");
}

#[test]
fn a_report_says_what_check_says() {
    let run = sample("mlp/overflow");
    let (_, page) = report(&run, &[]);
    let checked = trainscope_in(
        Path::new("."),
        &["check", &run.display().to_string(), "--format", "json"],
    )
    .json();
    let hits = ["hits", "notes"].map(|list| checked[list].as_array().unwrap().len());
    let begins = "<td class=\"nb\"><span class=\"s ";
    // Rows of the diagnosis begin in the same way.
    assert!(page.matches(begins).count() >= hits[0] + hits[1]);
    // Findings have quantity and unit next to the limit, and the diagnosis agrees with the hits.
    for wanted in [
        "<td class=\"n e\">rate / previous maximum ×10,000</td><td class=\"n\">&gt; ×10</td>",
        "<b>Hyper-parameters</b>",
        "<b>train/loss is NaN; 1 later hit follows</b>",
        "Guided diagnosis",
        "fc1.weight",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    let summary = checked["runs"][0]["summary"].as_str().unwrap();
    assert!(summary.starts_with("train/learning_rate jumps"));
    assert!(page.contains(&format!("<h1>{summary}</h1>")), "{page}");
    let hits = checked["hits"].as_array().unwrap();
    let errors = hits.iter().filter(|hit| hit["severity"] == "error").count();
    assert!(page.contains(&format!(">{errors} errors<")), "{page}");
    // Each rule has a name.
    assert!(
        page.contains("<td class=\"nb\">Activation between layers</td>"),
        "{page}"
    );
    assert!(!page.contains("<td class=\"nb\">Other</td>"), "{page}");
    let (_, healthy) = report(&sample("mlp/healthy"), &[]);
    assert!(healthy.contains("No problems found in") && !healthy.contains("First cause"));
    let (_, chinese) = report(&run, &["--lang", "zh"]);
    assert!(
        chinese.contains("<html lang=\"zh\">")
            && chinese.contains("引导式诊断")
            && chinese.contains("最初原因")
            && chinese.contains("完整")
            && !chinese.contains(">complete<")
    );
}

#[test]
fn damage_is_told_and_what_is_no_run_is_a_mistake() {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    copy_folder(&sample("candle"), &run);
    let file = fs::read_dir(&run)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let file = file
        .filter(|path| path.to_string_lossy().contains("tfevents"))
        .last()
        .unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    let (printed, page) = report(&run, &[]);
    assert_eq!(printed.status, 0, "{printed:?}");
    assert!(
        page.contains("Damaged") && page.contains("could not be"),
        "{page}"
    );
    let (printed, page) = report(folder.path().join("none").as_path(), &[]);
    assert!(
        printed.status == 2 && page.is_empty() && printed.err.contains("there is no folder"),
        "{printed:?}"
    );
}

#[test]
fn what_is_not_on_the_page_is_counted() {
    let plots = |page: &str| page.matches("class=\"plot\"").count();
    let (_, page) = report(&sample("mindspore/healthy"), &[]);
    let (_, chinese) = report(&sample("mindspore/healthy"), &["--lang", "zh"]);
    let (_, small) = report(&sample("candle"), &[]);
    assert!(plots(&page) > 0);
    assert!(page.contains("Not in this report: 3 histograms"), "{page}");
    assert!(page.contains("trainscope start shows them."));
    assert!(chinese.contains("此报告未包含：3 个直方图"));
    assert!(!small.contains("Not in this report"));
}

#[tokio::test]
async fn a_browser_opens_it_without_a_server_and_names_are_text() {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("<b id=x>run");
    let mut recording = Recording::begin(&run);
    for step in 0..20_i16 {
        let value = if step < 12 {
            1.0 / f32::from(step + 1)
        } else {
            f32::NAN
        };
        recording.scalar("loss/<img src=x onerror=alert(1)>", i64::from(step), value);
    }
    drop(recording);
    let (printed, page) = report(&run, &[]);
    assert_eq!(printed.status, 0, "{printed:?}");
    let path = folder.path().join("report.html");
    fs::write(&path, page).unwrap();
    let browser = Browser::open().await;
    browser
        .goto_address(&format!("file://{}", path.display()))
        .await;
    assert_eq!(browser.count("img, b#x, script").await, 0);
    browser.wait_for_text("<img src=x onerror=alert(1)>").await;
    browser.wait_for_text("<b id=x>run").await;
    // The style of the page applies, and its plots are there: a curve, and the cross of the first NaN.
    let ground = browser
        .run("return getComputedStyle(document.body).backgroundColor")
        .await;
    assert_eq!(ground, "rgb(245, 246, 248)");
    assert!(browser.count("svg polyline").await > 1);
    // Collapsed parts can be opened.
    browser.click("details summary").await;
    browser.wait_for_element("details[open] td").await;
    browser.close();
}
