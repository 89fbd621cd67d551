//! Histograms, images, audio, text and precision-recall curves: rebinned exactly, and in a real browser.

use serde_json::{Value, json};
use trainscope_api::paths;

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::parts::READOUT;
use crate::support::server::query;
use crate::support::{Browser, Lab, Server, wait_for};

/// A server over copies of all sample runs.
fn samples(lab: &Lab) -> Server {
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    wait_for("the files to be read", || {
        let status = server.status();
        (status.ingest.idle && status.runs > 0).then_some(())
    });
    server
}

fn distributions(server: &Server, request: &Value) -> Value {
    let answer = server.post(
        paths::DISTRIBUTIONS,
        "application/json",
        &request.to_string(),
    );
    assert_eq!(answer.status, 200, "{request}");
    answer.json()
}

fn sum(list: &Value) -> f64 {
    let numbers = list.as_array().unwrap().iter();
    numbers.map(|number| number.as_f64().unwrap()).sum()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

#[test]
fn counting_again_loses_no_value_of_any_writer() {
    let lab = Lab::new();
    let server = samples(&lab);
    let cases = [
        ("torch/run1", "weights/fc", "histograms"),
        ("torch/run1", "weights/constant", "histograms"),
        ("mlp/healthy", "fc1.weight", "histograms"),
        ("mlp/healthy", "fc1.weight.grad", "statistics"),
        ("mlp/overflow", "fc3.weight.grad", "statistics"),
    ];
    for (run, tag, source) in cases {
        let recorded = server
            .get(&format!(
                "/api/{source}?{}",
                query(&[("run", run), ("tag", tag), ("points", "2000")])
            ))
            .json();
        let records = recorded["records"].as_array().unwrap();
        let finite = |record: &Value| match source {
            "histograms" => sum(&record["counts"]),
            _ => ["zero", "negative", "positive"]
                .iter()
                .map(|class| record["stats"][class].as_f64().unwrap())
                .sum(),
        };
        for (rows, bins, spacing) in [
            (2_000, 10, "linear"),
            (2_000, 77, "symlog"),
            (2, 60, "linear"),
        ] {
            let request = json!({
                "series": [{"run": run, "tag": tag, "source": source}],
                "rows": rows, "bins": bins, "spacing": spacing,
            });
            let answer = distributions(&server, &request);
            let series = &answer["series"][0];
            assert_eq!(series["total"], records.len(), "{run} {tag}");
            let found = series["rows"].as_array().unwrap();
            assert_eq!(found.len(), records.len().min(rows));
            assert_eq!(series["cut"], records.len() > rows);
            let all: f64 = records.iter().map(finite).sum();
            let counted: f64 = found.iter().map(|row| sum(&row["counts"])).sum();
            assert!(close(all, counted), "{run} {tag}: {all} and {counted}");
            // Every record is in exactly one row.
            let in_rows: u64 = found
                .iter()
                .map(|row| row["records"].as_u64().unwrap())
                .sum();
            assert_eq!(in_rows, records.len() as u64);
            let edges = answer["edges"].as_array().unwrap().len();
            if all > 0.0 && source == "histograms" {
                assert_eq!(edges, bins + 1);
            } else if all > 0.0 {
                // One bin for each power of two, so that counts stay whole.
                assert!(edges <= bins + 1, "{run} {tag}: {edges}");
                assert_eq!(
                    (&answer["exponents"], &answer["spacing"]),
                    (&json!(true), &json!("symlog"))
                );
                let counts = found
                    .iter()
                    .flat_map(|row| row["counts"].as_array().unwrap());
                let mut counts = counts.map(|count| count.as_f64().unwrap());
                assert!(counts.all(|count| count.fract() == 0.0), "{run} {tag}");
            }
            if found.len() == records.len() {
                for (row, record) in found.iter().zip(records) {
                    assert_eq!(row["step"], record["step"]);
                    assert!(close(sum(&row["counts"]), finite(record)));
                }
            }
        }
    }
}

#[test]
fn values_that_are_not_finite_are_counted_beside() {
    let lab = Lab::new();
    let server = samples(&lab);
    let request = json!({
        "series": [{"run": "mlp/overflow", "tag": "fc3.weight.grad", "source": "statistics"}],
        "rows": 2_000,
    });
    let answer = distributions(&server, &request);
    let rows = answer["series"][0]["rows"].as_array().unwrap();
    let broken = |row: &&Value| {
        ["nan", "pos_inf", "neg_inf"]
            .iter()
            .any(|class| row[class].as_u64().unwrap() > 0)
    };
    let first = rows.iter().find(broken).expect("the run overflows");
    assert!(first["step"].as_i64().unwrap() > 0);
    assert!(
        !rows.iter().take(1).any(|row| broken(&row)),
        "it begins healthy"
    );
}

#[test]
fn a_smaller_range_of_steps_ends_at_single_records() {
    let lab = Lab::new();
    let server = samples(&lab);
    let ask = |from: i64, to: i64| {
        let request = json!({
            "series": [{"run": "mlp/healthy", "tag": "fc1.weight.grad", "source": "statistics"}],
            "from": from, "to": to, "rows": 3,
        });
        distributions(&server, &request)["series"][0].clone()
    };
    let whole = ask(i64::MIN / 2, i64::MAX / 2);
    assert_eq!(
        (&whole["cut"], whole["rows"].as_array().unwrap().len()),
        (&json!(true), 3)
    );
    let (from, to) = (&whole["rows"][0]["first_step"], &whole["rows"][0]["step"]);
    let mut range = (from.as_i64().unwrap(), to.as_i64().unwrap());
    for _ in 0..20 {
        let part = ask(range.0, range.1);
        if part["cut"] == false {
            assert!(
                part["rows"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|row| row["records"] == 1)
            );
            return;
        }
        range.1 = part["rows"][0]["step"].as_i64().unwrap();
    }
    panic!("steps never part: {range:?}");
}

#[test]
fn what_asks_for_too_much_or_nothing_is_refused_or_null() {
    let lab = Lab::new();
    let server = samples(&lab);
    for (change, status) in [
        (json!({"bins": 1}), 400),
        (json!({"rows": 0}), 400),
        (json!({"from": 3, "to": 1}), 400),
        (
            json!({"series": vec![json!({"run": "a", "tag": "b"}); 33]}),
            413,
        ),
        (json!({"unknown": 1}), 400),
    ] {
        let mut request = json!({"series": []});
        request
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let answer = server.post(
            paths::DISTRIBUTIONS,
            "application/json",
            &request.to_string(),
        );
        assert_eq!(answer.status, status, "{request}");
    }
    let request = json!({"series": [{"run": "nowhere", "tag": "x"}]});
    assert_eq!(distributions(&server, &request)["series"], json!([null]));
}

#[test]
fn text_is_parsed_and_never_markup() {
    let lab = Lab::new();
    let server = samples(&lab);
    let answer = server
        .get(&format!(
            "{}?{}",
            paths::MARKDOWN,
            query(&[("run", "torch/run1"), ("tag", "notes/text_summary")])
        ))
        .json();
    let record = &answer["records"][0];
    let items = record["items"].to_string();
    assert!(
        items.contains("\"table\"") && items.contains("<script>"),
        "{items}"
    );
    assert_eq!(record["cut"], false);
}

#[tokio::test]
async fn histograms_change_their_picture_with_view_bins_and_steps() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/mlp/overflow/overview").await;
    // The navigation has an entry.
    browser
        .click("nav a[href='/run/mlp/overflow/histograms']")
        .await;
    let canvas = "section[data-tag='fc1.weight.grad'] canvas";
    browser
        .goto(&server, "/run/mlp/overflow/histograms?q=fc1.weight.grad")
        .await;
    browser.wait_for_element(canvas).await;
    let ridges = browser.settled_picture(canvas).await;
    let view = "[aria-label=View] button";
    browser.click_text(view, "Heat map").await;
    let heat = browser.wait_for_other_picture(canvas, ridges).await;
    assert!(browser.url().await.contains("view=heat"));
    // Each card may have a separate setting, and a link restores it.
    browser.click_text(view, "Per card").await;
    let ridges = browser.wait_for_other_picture(canvas, heat).await;
    let selector = "section[data-tag] select[aria-label=View]";
    browser.set(selector, "heat").await;
    let heat = browser.wait_for_other_picture(canvas, ridges).await;
    browser.reload().await;
    browser.wait_for_element(selector).await;
    let again = browser.settled_picture(canvas).await;
    assert_eq!(again, heat, "a link opens the same pictures");
    assert_eq!(
        browser
            .run(&format!(
                "return document.querySelector({selector:?}).value"
            ))
            .await,
        "heat"
    );
    browser.click_text(view, "Heat map").await;
    browser.settled_picture(canvas).await;
    // Fewer bins draw another picture; the address follows.
    browser.set("input[name=bins]", "10").await;
    let coarse = browser.wait_for_other_picture(canvas, heat).await;
    assert!(browser.url().await.contains("bins=10"));
    // A drag selects steps; the bar shows them.
    browser.drag_over(canvas, 0.2, 0.5).await;
    browser.wait_for_other_picture(canvas, coarse).await;
    assert!(browser.url().await.contains("steps="));
    browser.click_text("button", "All steps").await;
    browser
        .wait_for("all steps", async || {
            (!browser.url().await.contains("steps=")).then_some(())
        })
        .await;
    browser.hover(canvas, 0.6).await;
    browser
        .wait_for_element(&format!("section[data-tag] {READOUT}"))
        .await;
    // Tensors of one role only.
    browser.goto(&server, "/run/mlp/overflow/histograms").await;
    browser.set("select[name=role]", "2").await;
    browser
        .wait_for("gradients alone", async || {
            let others = browser.count("section[data-tag='fc1.weight']").await;
            let gradients = browser.count("section[data-tag='fc1.weight.grad']").await;
            (others == 0 && gradients == 1).then_some(())
        })
        .await;
    browser.show("histograms").await;
    browser.close();
}

#[tokio::test]
async fn two_runs_keep_their_names_on_the_page_and_in_what_is_saved() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser
        .goto(
            &server,
            "/run/mlp/healthy/images?runs=mlp/healthy,mlp/overflow",
        )
        .await;
    browser
        .wait_for_element("[data-run] ~ [data-run] [data-part=step]")
        .await;
    let covered =
        "return [...document.querySelectorAll('[data-run] [data-part=names]')].filter(names => {
        const own = [...names.children].map(one => one.getBoundingClientRect());
        return own.some((one, at) => own.slice(at + 1).some(other =>
            one.right > other.left + 1 && one.left + 1 < other.right
            && one.bottom > other.top + 1 && one.top + 1 < other.bottom))
          || names.firstElementChild.scrollWidth > names.firstElementChild.clientWidth + 1;
      }).length";
    assert_eq!(browser.run(covered).await, 0, "a name is covered or cut");

    browser
        .goto(
            &server,
            "/run/mlp/overflow/histograms?runs=mlp/overflow,mlp/healthy&view=heat",
        )
        .await;
    let card = "section[data-tag='fc1.weight']";
    browser
        .wait_for_count(&format!("{card} canvas[role=img]"), 2)
        .await;
    browser
        .run(
            "window.saved = null; const make = URL.createObjectURL;
             URL.createObjectURL = blob => {
               createImageBitmap(blob).then(own => window.saved = [own.width, own.height]);
               return make.call(URL, blob);
             };",
        )
        .await;
    browser.hover(card, 0.5).await;
    browser
        .click(&format!("{card} button[aria-label='Download PNG']"))
        .await;
    // Both images side by side, below a line of names.
    browser
        .wait_until(&format!(
            "(() => {{
               if (!window.saved) return false;
               const drawn = [...document.querySelectorAll({card:?} + ' canvas[role=img]')];
               const width = drawn.reduce((sum, own) => sum + own.width, 0);
               const height = Math.max(...drawn.map(own => own.height));
               return window.saved[0] === width && window.saved[1] > height + 20;
             }})()"
        ))
        .await;
    browser.close();
}

#[tokio::test]
async fn pictures_follow_the_slider_and_can_be_brightened_and_enlarged() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/mlp/healthy/images").await;
    browser.wait_for_element("figure img").await;
    let shown = async || browser.attribute("figure img", "src").await;
    let last = shown().await;
    browser.wait_for_text("3/3").await;
    // The previous step has another image.
    browser.click("button[title*='←']").await;
    browser
        .wait_for("another picture", async || {
            (shown().await != last).then_some(())
        })
        .await;
    assert!(browser.url().await.contains("step="));
    browser.set("input[name=brightness]", "200").await;
    browser
        .wait_for("a brighter picture", async || {
            let style = "return getComputedStyle(document.querySelector('figure img')).filter";
            (browser.run(style).await == "brightness(2) contrast(1)").then_some(())
        })
        .await;
    // The value under the pointer, and the file.
    browser.hover("figure img", 0.1).await;
    browser
        .wait_for("the value of a pixel", async || {
            let text = browser.text_of("figcaption").await?;
            text.contains("x ").then_some(())
        })
        .await;
    let name = browser.attribute("figcaption a", "download").await;
    assert!(
        name.starts_with("plane_") && name.contains(".png"),
        "{name}"
    );
    browser
        .click_text("[aria-label='Size of pictures'] button", "4 : 1")
        .await;
    browser
        .wait_for("four pixels for one", async || {
            let ratio = "const img = document.querySelector('figure img');
                         return img.naturalWidth > 0 && img.offsetWidth / img.naturalWidth";
            let style =
                "return getComputedStyle(document.querySelector('figure img')).imageRendering";
            (browser.run(ratio).await == 4 && browser.run(style).await == "pixelated").then_some(())
        })
        .await;
    browser.show("images").await;
    browser.close();
}

#[tokio::test]
async fn pictures_are_subtracted_and_the_ruler_is_their_slider() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    let page = "/run/mlp/healthy/images?runs=mlp/healthy,mlp/overflow";
    browser
        .goto(&server, &format!("{page}&step=79&against=run:mlp/healthy"))
        .await;
    // The black picture differs from the other run's, which is shown as recorded.
    browser
        .wait_for_text("4,096 of 4,096 pixels differ, by at most")
        .await;
    assert_eq!(browser.count("figure canvas:not([hidden])").await, 1);
    let width = "return document.querySelector('[data-run]:nth-child(2) figure canvas').width";
    assert_eq!(browser.run(width).await, 64);
    // Each run has a row with a mark a step; the slider goes to a step.
    assert_eq!(browser.count("[data-part=ruler] svg").await, 2);
    let marks = "return document.querySelector('[data-part=ruler] path').getAttribute('d').split('M').length - 1";
    assert_eq!(browser.run(marks).await, 3);
    browser
        .set("[data-part=ruler] input[name=step]", "143")
        .await;
    browser.wait_for_text("3/3").await;
    assert!(browser.url().await.contains("step=143"));
    browser.close();
}

#[tokio::test]
async fn sound_text_and_curves_of_precision_are_shown() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/torch/run1/images").await;
    browser
        .wait_for("sound that can be played", async || {
            let secs = "const audio = document.querySelector('figure audio');
                        return !!audio && audio.duration";
            let secs = browser.run(secs).await.as_f64().unwrap_or(0.0);
            ((secs - 0.25).abs() < 0.02).then_some(())
        })
        .await;
    browser.wait_for_text("8,000 Hz").await;
    // The waveform is drawn, and a click seeks to that position.
    let wave = "svg[aria-label^=Waveform]";
    let columns =
        format!("return document.querySelector('{wave} path').getAttribute('d').split('M').length");
    browser.wait_for_element(&format!("{wave} path")).await;
    assert!(browser.run(&columns).await.as_u64().unwrap() > 100);
    browser.click(wave).await;
    browser
        .wait_for("the middle of the clip", async || {
            let at = "return document.querySelector('figure audio').currentTime";
            let at = browser.run(at).await.as_f64().unwrap_or(0.0);
            ((at - 0.125).abs() < 0.02).then_some(())
        })
        .await;

    // The card of a sentence is as high as the sentence.
    browser.goto(&server, "/run/torch/run1/text?step=1").await;
    browser.wait_for_text("second step").await;
    browser
        .wait_until("document.querySelector('section[data-tag]').offsetHeight < 120")
        .await;

    browser.goto(&server, "/run/torch/run1/text?step=0").await;
    browser
        .wait_for_element("[data-part=markdown] table th")
        .await;
    // Markup in a text is escaped.
    assert_eq!(browser.count("[data-part=markdown] script").await, 0);
    browser.wait_for_text("<script>").await;
    browser
        .click_text("[aria-label='How texts are shown'] button", "Source")
        .await;
    browser.wait_for_text("| a | b |").await;
    // During a search, tags without a match have no card.
    browser
        .goto(
            &server,
            "/run/torch/run1/text?step=0&runs=torch/run1,mlp/healthy",
        )
        .await;
    browser.wait_for_count("section[data-tag]", 2).await;
    browser.fill("input[name=find]", "SCRIPT").await;
    browser.wait_for_element("[data-part=text] mark").await;
    browser.wait_for_text("Found at").await;
    browser.wait_for_count("section[data-tag]", 1).await;

    // Without any match, the page says so and offers to clear the search.
    browser.fill("input[name=find]", "zzz").await;
    browser.wait_for_text("No text contains “zzz”.").await;
    browser.click_text("[role=status] button", "Clear").await;
    browser.wait_for_count("section[data-tag]", 2).await;
    // The last step has no match: the card shows the first one with a match.
    browser.goto(&server, "/run/torch/run1/text").await;
    browser.wait_for_element("[data-part=text]").await;
    assert_eq!(browser.count("[data-part=markdown] table th").await, 0);
    browser.fill("input[name=find]", "script").await;
    browser.wait_for_element("[data-part=text] mark").await;
    browser
        .wait_for_element("button[title^='Go to step'][aria-current=true]")
        .await;

    browser.goto(&server, "/run/torch/run1/pr_curves").await;
    let at_threshold = "[role=region][aria-label='Counts at the threshold under the pointer']";
    browser
        .wait_for_element(&format!("{at_threshold} [data-column=area]"))
        .await;
    // Integer counts, the F1 score of both, and nothing outside of the card.
    for count in ["tp", "fp", "tn", "fn"] {
        let text = browser
            .text_of(&format!("{at_threshold} [data-column={count}]"))
            .await
            .unwrap();
        assert!(
            !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == ','),
            "{count}: {text}"
        );
    }
    let f1: f64 = browser
        .text_of(&format!("{at_threshold} [data-column=f1]"))
        .await
        .unwrap()
        .parse()
        .unwrap();
    assert!((0.0..=1.0).contains(&f1), "{f1}");
    let beyond = format!(
        "const of = (selector) => document.querySelector(selector).getBoundingClientRect();
         return of({at_threshold:?}).right > of('section[data-tag=pr]').right + 1"
    );
    assert_eq!(browser.run(&beyond).await, false);
    let threshold = format!("{at_threshold} [data-column=threshold]");
    let before = browser.text_of(&threshold).await;
    browser.hover("section[data-tag='pr'] canvas", 0.9).await;
    browser
        .wait_for("another threshold", async || {
            (browser.text_of(&threshold).await != before).then_some(())
        })
        .await;
    browser.close();
}
