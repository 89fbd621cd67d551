//! Loss landscapes: map, surface, figures, several runs, and records that cannot be drawn.

use std::fs;

use serde_json::json;
use trainscope_api::paths;
use trainscope_format::encode::Moment;
use trainscope_format::surface::{Grid, Points};
use trainscope_format::{Landscape, RecordWriter};

use crate::support::lab::{STARTED_SECS, copy_folder, workspace_root};
use crate::support::server::query;
use crate::support::{Browser, Lab, Server, wait_for};

const MAP: &str = "[data-view=map] canvas";

fn serve(lab: &Lab, runs: u64) -> Server {
    let server = lab.start();
    wait_for("the runs to be found", || {
        let status = server.status();
        (status.ingest.idle && status.runs >= runs).then_some(())
    });
    server
}

fn list(values: Vec<f64>) -> Grid {
    Grid {
        shape: vec![values.len() as u64],
        values,
    }
}

/// A landscape of a function over a grid from −1 to 1.
fn landscape(points: u32, of: impl Fn(f64, f64) -> f64) -> Landscape {
    let last = f64::from(points.max(2) - 1);
    let axis: Vec<f64> = (0..points)
        .map(|at| 2.0 * f64::from(at) / last - 1.0)
        .collect();
    let z = axis.iter().flat_map(|y| axis.iter().map(|x| of(*x, *y)));
    Landscape {
        surface: Some(Points {
            z: Grid {
                shape: vec![u64::from(points); 2],
                values: z.collect(),
            },
            x: list(axis.clone()),
            y: list(axis),
        }),
        unit: "step".to_owned(),
        decomposition: "PCA".to_owned(),
        normalisation: "orthonormal".to_owned(),
        variance: vec![0.8, 0.15],
        samples: 64,
        ..Landscape::default()
    }
}

/// The landscape with a path of three states.
fn with_path(mut landscape: Landscape, path: [(f64, f64, f64); 3], plane: &str) -> Landscape {
    landscape.path = Some(Points {
        x: list(path.iter().map(|at| at.0).collect()),
        y: list(path.iter().map(|at| at.1).collect()),
        z: list(path.iter().map(|at| at.2).collect()),
    });
    landscape.intervals = vec![0, 10, 20];
    plane.clone_into(&mut landscape.plane);
    landscape
}

fn record(lab: &Lab, run: &str, landscapes: &[(&str, Landscape)]) {
    let folder = lab.base().join(run);
    fs::create_dir_all(&folder).unwrap();
    let file = fs::File::create(folder.join("events.out.tfevents.1760000000.host.1.0")).unwrap();
    let mut writer = RecordWriter::new(file, STARTED_SECS).unwrap();
    let at = |step| Moment {
        step,
        wall_time_secs: STARTED_SECS,
    };
    for step in 0..=20 {
        writer
            .scalar("train/loss", at(step), 5.0 / (step + 1) as f64)
            .unwrap();
    }
    for (tag, landscape) in landscapes {
        writer.landscape(tag, at(20), landscape).unwrap();
    }
    writer.flush().unwrap();
}

fn bowl(x: f64, y: f64) -> f64 {
    0.5 + x * x + 2.0 * y * y
}

const PATH: [(f64, f64, f64); 3] = [(-0.8, 0.2, 1.2), (-0.3, -0.2, 0.7), (0.0, 0.0, 0.5)];

#[tokio::test]
async fn the_landscapes_of_mindspore_are_read_as_they_were_recorded() {
    let lab = Lab::new();
    lab.copy_fixture("ms20-summary/landscape", "lenet");
    // MindSpore writes this next to the weights that it saves.
    let settings = r#"{"epoch_group": {"0": [1, 2, 3, 4]}, "model_params_file_map": {"1": "/elsewhere/1.ckpt"},
        "step_per_epoch": 8, "unit": "epoch", "num_samples": 32, "landscape_size": 9}"#;
    let weights = lab.base().join("lenet/ckpt_dir");
    fs::create_dir(&weights).unwrap();
    fs::write(weights.join("train_metadata.json"), settings).unwrap();
    let server = serve(&lab, 1);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/lenet/landscape").await;
    browser
        .wait_for_text(
            "The minimum is outside of this plane: its loss falls to 0.086 at the border",
        )
        .await;
    // Nothing is invented that MindSpore does not record.
    let text = browser.text().await;
    assert!(
        text.contains("The share of variance in these directions was not recorded."),
        "{text}"
    );
    assert!(text.contains("number of samples not recorded"), "{text}");
    assert!(text.contains("9 × 9 points"), "{text}");
    let settings = browser.text_of("[data-part=train-metadata]").await.unwrap();
    assert_eq!(
        settings,
        "train_metadata.json: 9 × 9 points, each the mean loss of 32 samples, 8 steps per epoch, saved at epoch 1–4"
    );
    // The loss in the plane next to that of the training at the same step.
    let saved = browser
        .text_of("table[aria-label='Saved states']")
        .await
        .unwrap();
    for wanted in [
        "2.09", "1.08", "0.213", "0.161", "2.51", "1.63", "0.493", "0.149",
    ] {
        assert!(saved.contains(wanted), "{saved}");
    }
    let map = browser.settled_picture(MAP).await;
    browser.show("landscape").await;

    // Keys: linear colours, the next landscape, the surface large, and turned.
    browser.press('g').await;
    let linear = browser.wait_for_other_picture(MAP, map).await;
    assert!(browser.url().await.contains("scale=linear"));
    browser.press(']').await;
    browser
        .wait_for_text("The loss at the end is 0.112; it stays within 10 %")
        .await;
    assert!(browser.url().await.contains("which=end"));
    let end = browser.wait_for_other_picture(MAP, linear).await;
    assert_ne!(end, map);
    browser.press('s').await;
    let surface = "[data-view=surface] canvas";
    let before = browser.settled_picture(surface).await;
    browser.drag_over(surface, 0.3, 0.7).await;
    browser.wait_for_other_picture(surface, before).await;
    browser.press('m').await;
    browser.wait_for_element(MAP).await;

    // A press reads the point in the middle, which is the end.
    browser.hover(MAP, 0.5).await;
    browser.click(MAP).await;
    browser.wait_for_text("from the end").await;
    assert!(browser.url().await.contains("at="));

    fs::write(weights.join("train_metadata.json"), "{").unwrap();
    let address = |run: &str| format!("{}?{}", paths::LANDSCAPE_SETTINGS, query(&[("run", run)]));
    let damaged = server.get(&address("lenet")).json();
    let fault = damaged["fault"].as_str().unwrap();
    assert!(
        fault.starts_with("ckpt_dir/train_metadata.json: EOF"),
        "{fault}"
    );
    assert_eq!(server.get(&address("other")).status, 404);
    browser.close();
}

#[tokio::test]
async fn runs_are_side_by_side_unless_they_are_in_one_plane() {
    let lab = Lab::new();
    let first = || with_path(landscape(21, bowl), PATH, "p1");
    record(&lab, "first", &[("landscape", first())]);
    let other = with_path(
        landscape(21, bowl),
        [(0.5, 0.5, 1.2), (0.3, 0.1, 0.7), (0.1, 0.0, 0.5)],
        "p1",
    );
    record(&lab, "same", &[("landscape", other)]);
    record(
        &lab,
        "apart",
        &[("landscape", with_path(landscape(9, bowl), PATH, "p2"))],
    );
    let server = serve(&lab, 3);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/first/landscape").await;
    browser
        .wait_for_text("The loss at the end is 0.5; it stays within 10 %")
        .await;
    browser
        .wait_for_text("Two directions hold 95 % of the variance of the saved weights.")
        .await;
    let alone = browser.settled_picture(MAP).await;
    assert_eq!(browser.count("figure canvas").await, 0);

    browser
        .click("[aria-label='Other runs'][aria-haspopup=menu]")
        .await;
    browser.click("[role=menuitemcheckbox][title=same]").await;
    browser.wait_for_text("same is in the same plane.").await;
    browser.wait_for_count("[data-part=others] li", 1).await;
    browser.wait_for_other_picture(MAP, alone).await;
    assert_eq!(
        browser.count("figure canvas").await,
        0,
        "one map has both paths"
    );

    browser.click("[role=menuitemcheckbox][title=apart]").await;
    browser
        .wait_for_text("The runs are in planes of their own")
        .await;
    browser.wait_for_count("figure canvas", 2).await;
    browser.wait_for_count("[data-part=others] li", 2).await;
    assert!(browser.url().await.contains("also=same,apart"));
    browser.close();
}

#[tokio::test]
async fn what_cannot_be_drawn_says_why() {
    let lab = Lab::new();
    let mut reversed = landscape(5, bowl);
    reversed.surface.as_mut().unwrap().x.values.reverse();
    let mut empty = landscape(5, bowl);
    empty.surface = None;
    let nan = landscape(5, |_, _| f64::NAN);
    let walls = landscape(9, |x, y| {
        if x > 0.6 {
            f64::NAN
        } else if y > 0.6 {
            f64::INFINITY
        } else {
            bowl(x, y)
        }
    });
    record(
        &lab,
        "odd",
        &[
            ("a nan", nan),
            ("b <b>walls</b>", walls),
            ("c single", landscape(1, bowl)),
            ("d reversed", reversed),
            ("e empty", empty),
        ],
    );
    lab.record("none").curve("loss", 0..5, |_| 1.0);
    let server = serve(&lab, 2);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/odd/landscape").await;
    browser
        .wait_for_text("No loss of this plane is finite.")
        .await;
    browser.wait_for_text("25, 0").await;
    browser.press(']').await;
    browser.wait_for_text("<b>walls</b>").await;
    browser.wait_for_text("18, 14").await;
    assert!(browser.drawn_share(MAP).await > 0.5);
    browser.press(']').await;
    browser.wait_for_text("1 × 1 points").await;
    browser.press(']').await;
    browser
        .wait_for_text("The coordinates of an axis are not finite and ascending.")
        .await;
    browser.press(']').await;
    browser.wait_for_text("The record has no surface.").await;
    // A run without one has no entry in the rail, and its page says how to record one.
    browser.goto(&server, "/run/none/landscape").await;
    browser
        .wait_for_text("No loss landscape was recorded")
        .await;
    browser
        .wait_until("document.querySelector('nav a[href$=\"/none/landscape\"]').hidden")
        .await;
    browser.close();
}

#[test]
fn a_claim_of_many_points_is_damage() {
    let lab = Lab::new();
    let mut claimed = landscape(3, bowl);
    claimed.surface.as_mut().unwrap().z.shape = vec![10_000, 10_000];
    let mut cut = landscape(3, bowl);
    cut.surface.as_mut().unwrap().y = list(vec![0.0]);
    record(
        &lab,
        "run",
        &[
            ("claimed", claimed),
            ("cut", cut),
            ("whole", landscape(3, bowl)),
        ],
    );
    let server = serve(&lab, 1);
    let whole = query(&[("run", "run"), ("tag", "whole")]);
    let answer = server.get(&format!("{}?{whole}", paths::LANDSCAPES)).json();
    assert_eq!(answer["records"][0]["samples"], json!(64));
    let claimed = query(&[("run", "run"), ("tag", "claimed")]);
    let answer = server.get(&format!("{}?{claimed}", paths::LANDSCAPES));
    assert!(answer.status == 404 || answer.json()["records"] == json!([]));
    let status = server.get(paths::RUNS).json();
    assert_eq!(
        status["runs"][0]["files"][0]["status"], "damaged",
        "{status}"
    );
}

#[tokio::test]
async fn the_sample_run_has_a_landscape() {
    let lab = Lab::new();
    copy_folder(
        &workspace_root().join("sample-runs/mlp/healthy"),
        &lab.base().join("mlp"),
    );
    let server = serve(&lab, 1);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/mlp/landscape").await;
    browser
        .wait_for_text("25 × 25 points, each the mean loss of 512 samples")
        .await;
    browser
        .wait_for_text("of the variance of the saved weights")
        .await;
    assert!(browser.drawn_share(MAP).await > 0.5);
    browser.close();
}
