//! A single hit in the debugger and on the overview, in a real browser: its curve, its steps, its place on the map.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::{Browser, Lab, Server};

fn sample(lab: &Lab, run: &str) -> Server {
    let folder = workspace_root().join("sample-runs").join(run);
    copy_folder(&folder, &lab.base().join("run"));
    lab.start()
}

#[tokio::test]
async fn the_hit_of_a_scalar_shows_its_curve_and_leads_to_that_step() {
    let lab = Lab::new();
    let server = sample(&lab, "transformer-small/fp16");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger").await;
    // The first cause is a gradient norm that is infinite from step 411 on.
    browser.wait_for_element(".hit-curve canvas").await;
    browser.wait_for_element(".hit-curve .value.err").await;
    let value = browser.text_of(".hit-curve h3").await.unwrap();
    assert!(value.contains("411") && value.contains('∞'), "{value}");
    let label = browser.attribute(".hit-curve canvas", "aria-label").await;
    assert!(label.contains("train/grad_norm around step 411"), "{label}");
    // The advice is about that cause, in the panel as in the box above.
    let advice = browser.text_of(".cause .advice").await.unwrap();
    assert!(advice.contains("Clip the gradient norm"), "{advice}");
    let panel = browser.text_of(".insp").await.unwrap();
    assert!(panel.contains("Clip the gradient norm"), "{panel}");
    browser.click(".hit-curve a.link").await;
    browser
        .wait_until(
            "location.search.includes('range=361,461') && location.search.includes('at=411')
             && document.querySelector('.tip')?.textContent.includes('411')",
        )
        .await;
    browser.close().await;
}

#[tokio::test]
async fn a_text_that_is_no_range_of_steps_is_called_so() {
    let lab = Lab::new();
    let server = sample(&lab, "mlp/vanishing");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger?steps=abc").await;
    browser.wait_for_element(".no-range").await;
    let said = browser.text_of(".no-range").await.unwrap();
    assert!(said.contains("“abc” is not a range of steps"), "{said}");
    browser.goto(&server, "/run/run/debugger?steps=0-5").await;
    browser
        .wait_until("document.querySelector('tr.hit-row') && !document.querySelector('.no-range')")
        .await;
    browser.close().await;
}

#[tokio::test]
async fn the_map_frames_the_step_of_the_cause_and_is_coloured_by_its_measure() {
    let lab = Lab::new();
    let server = sample(&lab, "mlp/vanishing");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    // Mean |x| of other gradients is coloured too, and the legend says what the colours are.
    browser
        .wait_until("document.querySelectorAll('table.onset i.measured').length > 16")
        .await;
    browser.wait_for_element("i.began.measured").await;
    let legend = browser.text_of(".onset-legend").await.unwrap();
    assert!(
        legend.contains("Mean |x|") && legend.contains("< 1e"),
        "{legend}"
    );
    let head = browser.text_of("table.onset th.now").await.unwrap();
    assert_eq!(head.trim(), "0");
    // No part of the legend leaves the card.
    let is_within = "(() => {
        const card = document.querySelector('.onset-card').getBoundingClientRect();
        const parts = [...document.querySelectorAll('.onset-legend > span')];
        return parts.every((part) => part.getBoundingClientRect().right <= card.right);
    })()";
    browser.wait_until(is_within).await;
    browser.close().await;
}

#[tokio::test]
async fn a_watchpoint_is_called_as_its_user_wrote_it() {
    let lab = Lab::new();
    let named = "[[watchpoint]]\ncondition = \"loss_nan\"\nname = \"my limit\"\n";
    let folder = lab.base().join(".trainscope");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("watchpoints.toml"), named).unwrap();
    let server = sample(&lab, "transformer-small/fp16");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger").await;
    browser
        .wait_until("[...document.querySelectorAll('tr.hit-row td')].some((cell) => cell.textContent.trim() == 'my limit')")
        .await;
    browser.close().await;
}

#[tokio::test]
async fn one_number_of_histograms_is_on_the_rail_and_the_card_and_no_card_is_missing() {
    let lab = Lab::new();
    let server = sample(&lab, "mlp/vanishing");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    // Histograms and statistics of the same 60 tensors.
    browser
        .wait_until(
            "document.querySelector(\"a.nav[href$='/histograms'] .count\")?.textContent == '60'",
        )
        .await;
    let card = browser
        .text_of("[data-card=histograms] .head")
        .await
        .unwrap();
    assert!(card.contains("60 tensors"), "{card}");
    browser.wait_for_element("[data-card=pipeline]").await;
    // The last row of cards is as wide as the first.
    let is_full = "(() => {
        const cards = [...document.querySelectorAll('.eight > .card')];
        const right = Math.max(...cards.map((card) => card.getBoundingClientRect().right));
        return right - cards.at(-1).getBoundingClientRect().right < 2;
    })()";
    browser.wait_until(is_full).await;
    browser.close().await;
}

#[tokio::test]
async fn a_hit_of_a_histogram_leaves_no_card_empty_where_tensors_are_in_files() {
    let lab = Lab::new();
    let server = sample(&lab, "mindspore/overflow");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    browser
        .wait_for_element("[data-card=tensors] .body > *")
        .await;
    browser.wait_for_element("[data-card=graphs] dt").await;
    // On the map, such a hit has its cells, which lead to it.
    browser
        .wait_for_element("th[title='conv2.weight/auto'] ~ td a[href*='hit='] .nan-cell")
        .await;
    browser.close().await;
}
