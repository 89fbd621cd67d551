//! A single hit in the debugger and on the overview, in a real browser: its curve, its steps, its place on the map.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::parts::INSPECTOR;
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
    // The first cause is a gradient norm that is infinite since step 411.
    let canvas = "[data-part=hit-curve] canvas";
    browser.wait_for_element(canvas).await;
    let head = "[data-part=hit-curve] h3";
    browser
        .wait_for_element(&format!("{head} [data-kind=non-finite]"))
        .await;
    let value = browser.text_of(head).await.unwrap();
    assert!(value.contains("411") && value.contains('∞'), "{value}");
    let label = browser.attribute(canvas, "aria-label").await;
    assert!(label.contains("train/grad_norm around step 411"), "{label}");
    // The advice is about that cause, in the panel as in the box above.
    let advice = browser
        .text_of("[data-part=cause] [data-part=advice]")
        .await
        .unwrap();
    assert!(advice.contains("Clip the gradient norm"), "{advice}");
    let panel = browser.text_of(INSPECTOR).await.unwrap();
    assert!(panel.contains("Clip the gradient norm"), "{panel}");
    browser.click("[data-part=hit-curve] a").await;
    browser
        .wait_until(
            "location.search.includes('range=361,461') && location.search.includes('at=411')
             && document.querySelector('[data-part=readout]')?.textContent.includes('411')",
        )
        .await;
    browser.close();
}

#[tokio::test]
async fn a_text_that_is_no_range_of_steps_is_called_so() {
    let lab = Lab::new();
    let server = sample(&lab, "mlp/vanishing");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger?steps=abc").await;
    let alert = "main [role=alert]";
    browser.wait_for_element(alert).await;
    let said = browser.text_of(alert).await.unwrap();
    assert!(said.contains("“abc” is not a range of steps"), "{said}");
    browser.goto(&server, "/run/run/debugger?steps=0-5").await;
    browser
        .wait_until("document.querySelector('tr[data-severity]') && !document.querySelector('main [role=alert]')")
        .await;
    browser.close();
}

#[tokio::test]
async fn the_map_frames_the_step_of_the_cause_and_is_coloured_by_its_measure() {
    let lab = Lab::new();
    let server = sample(&lab, "mlp/vanishing");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    // Mean |x| of other gradients is coloured too, and the legend explains the colours.
    browser
        .wait_until("document.querySelectorAll('[data-part=map] [data-kind=measured]').length > 16")
        .await;
    browser
        .wait_for_element("[data-state=began][data-kind=measured]")
        .await;
    let legend = browser.text_of("[data-part=legend]").await.unwrap();
    assert!(
        legend.contains("Mean |x|") && legend.contains("< 1e"),
        "{legend}"
    );
    let head = browser
        .text_of("[data-part=map] th[aria-current]")
        .await
        .unwrap();
    assert_eq!(head.trim(), "0");
    // No part of the legend leaves the card.
    let is_within = "(() => {
        const card = document.querySelector('section:has(> div > [data-part=legend])').getBoundingClientRect();
        const parts = [...document.querySelectorAll('[data-part=legend] > span')];
        return parts.every((part) => part.getBoundingClientRect().right <= card.right);
    })()";
    browser.wait_until(is_within).await;
    browser.close();
}

#[tokio::test]
async fn a_watchpoint_is_called_as_its_user_wrote_it() {
    let lab = Lab::new();
    let named = "[[watchpoint]]\ncondition = \"loss_nan\"\nname = \"my limit\"\n";
    let file = lab.base().join(".trainscope/watchpoints.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, named).unwrap();
    let server = sample(&lab, "transformer-small/fp16");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger").await;
    browser
        .wait_until("[...document.querySelectorAll('tr[data-severity] td')].some((cell) => cell.textContent.trim() == 'my limit')")
        .await;
    browser.close();
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
            "/Histograms\\s*60$/.test(document.querySelector(\"nav a[href$='/histograms']\")?.textContent)",
        )
        .await;
    browser.wait_for_element("[data-card=histograms] > a").await;
    let card = browser.text_of("[data-card=histograms] > a").await.unwrap();
    assert!(card.contains("60 tensors"), "{card}");
    browser.wait_for_element("[data-card=pipeline]").await;
    // The last row of cards is as wide as the first.
    let is_full = "(() => {
        const cards = [...document.querySelectorAll('[data-card]')];
        const right = Math.max(...cards.map((card) => card.getBoundingClientRect().right));
        return right - cards.at(-1).getBoundingClientRect().right < 2;
    })()";
    browser.wait_until(is_full).await;
    browser.close();
}

#[tokio::test]
async fn a_hit_of_a_histogram_leaves_no_card_empty_where_tensors_are_in_files() {
    let lab = Lab::new();
    let server = sample(&lab, "mindspore/overflow");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/overview").await;
    browser
        .wait_for_element("[data-card=tensors] > [data-part=body] > *")
        .await;
    browser.wait_for_element("[data-card=graphs] dt").await;
    // On the map, such a hit has its cells, which lead to it.
    browser
        .wait_for_element("th[title='conv2.weight/auto'] ~ td a[href*='hit='] [data-kind=nan]")
        .await;
    browser.close();
}

#[tokio::test]
async fn a_request_that_is_replaced_or_whose_page_is_left_is_aborted() {
    let lab = Lab::new();
    let server = sample(&lab, "mlp/vanishing");
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger").await;
    browser.wait_for_element("tr[data-severity]").await;
    // From now on the server does not answer about hits.
    browser
        .run(
            "window.signals = [];
             const fetch = window.fetch;
             window.fetch = (request, ...options) => {
                 if (!request.url?.includes('/api/findings?')) return fetch(request, ...options);
                 const signal = request.signal;
                 window.signals.push(signal);
                 return new Promise((_, reject) => {
                     signal.addEventListener('abort', () => reject(signal.reason));
                 });
             };",
        )
        .await;
    let search = "input[aria-label='Tensor or watchpoint']";
    browser.fill(search, "fc").await;
    browser.wait_until("window.signals.length > 0").await;
    browser.fill(search, "fc1").await;
    let is_replaced = "window.signals.length > 1
        && window.signals.slice(0, -1).every(signal => signal.aborted)
        && !window.signals.at(-1).aborted";
    browser.wait_until(is_replaced).await;
    browser.click("a[href='/']").await;
    browser
        .wait_until("window.signals.every(signal => signal.aborted)")
        .await;
    browser.close();
}

#[tokio::test]
async fn equal_hits_of_consecutive_steps_are_one_group_that_opens_to_its_steps() {
    const HEAD: &str = "button[data-series]";
    const ROWS: &str = "tr[data-severity]";
    const ENTER: char = '\u{e007}';
    let lab = Lab::new();
    let mut run = lab.record("run");
    // A norm that leaps at five steps one after the other; at the first two there are other hits, too.
    for step in 0..200 {
        let wobble = (step * 7 % 10) as f32 / 100.0;
        let leaps = i32::try_from(step - 150).unwrap();
        let norm = if (0..5).contains(&leaps) {
            5.0 * 20_f32.powi(leaps)
        } else {
            1.0 + wobble
        };
        run.scalar("train/loss", step, 2.0 - step as f32 / 200.0 + wobble);
        run.scalar("train/grad_norm", step, norm);
    }
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger").await;
    browser.wait_for_element(HEAD).await;
    let said = browser.text_of(HEAD).await.unwrap();
    assert!(said.contains("steps 152 – 154"), "{said}");
    assert!(said.contains("3 steps"), "{said}");
    let closed = browser.count(ROWS).await;
    // By the keyboard, as any button; the focus stays.
    browser
        .run(&format!("document.querySelector('{HEAD}').focus()"))
        .await;
    browser.press(ENTER).await;
    browser
        .wait_for_element(&format!("{HEAD}[aria-expanded=true]"))
        .await;
    browser.wait_for_count(ROWS, closed + 2).await;
    assert!(browser.url().await.contains("open=0"));
    browser
        .wait_until(&format!("document.activeElement.matches('{HEAD}')"))
        .await;
    browser.press(ENTER).await;
    browser.wait_for_count(ROWS, closed).await;
    assert!(!browser.url().await.contains("open="));
    browser.close();
}
