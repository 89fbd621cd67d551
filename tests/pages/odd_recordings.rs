//! Odd recordings, and a server that stops and starts, on the pages in a real browser.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use trainscope_format::Histogram;
use trainscope_format::encode::{Moment, RecordWriter};

use crate::support::lab::{STARTED_SECS, copy_folder};
use crate::support::parts::{PANEL, READOUT, canvas};
use crate::support::server::bundle_folder;
use crate::support::{Browser, Lab, Recording, Server};

/// Waits until the description of a curve contains a text.
async fn wait_until_said(browser: &Browser, tag: &str, wanted: &str) {
    browser
        .wait_for(&format!("{tag} to say `{wanted}`"), async || {
            let said = browser.attribute(&canvas(tag), "aria-label").await;
            said.contains(wanted).then_some(())
        })
        .await;
}

async fn open(browser: &Browser, server: &Server, run: &str, page: &str) {
    browser.goto(server, &format!("/run/{run}/{page}")).await;
}

#[tokio::test]
async fn a_run_whose_every_value_is_nan_is_said_to_be_one_on_every_page() {
    let lab = Lab::new();
    lab.record("nan")
        .curve("train/loss", 0..50, |_| f32::NAN)
        .curve("train/accuracy", 0..50, |_| f32::NAN)
        .curve("lr", 0..50, |_| f32::NAN);
    let server = lab.start();
    server.wait_for_points("nan", "train/accuracy", 50);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser
        .wait_for_element("td a[href='/run/nan/debugger']")
        .await;
    let loss = browser
        .text_of("[data-column=loss][data-kind=non-finite]")
        .await;
    assert_eq!(loss.as_deref(), Some("NaN"));
    open(&browser, &server, "nan", "overview").await;
    browser
        .wait_for_text("train/loss is NaN from step 0 on")
        .await;
    // A sentence that begins with a name does not capitalise it, and the name is a link.
    let name = browser.text_of("[data-part=verdict] h1 a[title]").await;
    assert_eq!(name.as_deref(), Some("lr"));
    open(&browser, &server, "nan", "scalars").await;
    wait_until_said(&browser, "train/loss", "NaN from 0 to 49").await;
    browser.settled_picture(&canvas("train/loss")).await;
    open(&browser, &server, "nan", "debugger").await;
    browser.wait_for_text("First cause").await;
    browser.close();
}

#[tokio::test]
async fn the_least_and_the_greatest_numbers_share_an_axis() {
    let lab = Lab::new();
    let folder = lab.base().join("wide");
    fs::create_dir(&folder).unwrap();
    let file = fs::File::create(folder.join("events.out.tfevents.1760000000.host.1.0")).unwrap();
    let mut out = RecordWriter::new(file, STARTED_SECS).unwrap();
    let mut scalar = |tag: &str, step: i64, value: f64| {
        let at = Moment {
            step,
            wall_time_secs: STARTED_SECS + step as f64,
        };
        out.scalar(tag, at, value).unwrap();
    };
    for (step, value) in (0..).zip([1e-308, 1e308, -1e308, 1e-308]) {
        scalar("wide", step, value);
    }
    scalar("one", 7, 0.5);
    drop(out);
    let server = lab.start();
    server.wait_for_points("wide", "wide", 4);
    let browser = Browser::open().await;
    for scale in ["linear", "log", "symlog"] {
        let page = format!("scalars?y={scale}&smooth=0");
        open(&browser, &server, "wide", &page).await;
        wait_until_said(&browser, "wide", "1 line").await;
        browser.settled_picture(&canvas("wide")).await;
    }
    browser.hover(&canvas("wide"), 0.45).await;
    browser.wait_for_text("1.00e308").await;
    // A single point is visible, and has a readout.
    browser.hover(&canvas("one"), 0.5).await;
    browser.wait_for_text("0.5000").await;
    browser.close();
}

#[tokio::test]
async fn what_a_restart_has_written_again_is_shown_paler_when_asked_for() {
    let lab = Lab::new();
    let folder = lab.base().join("run");
    let file = |number: u32| folder.join(format!("events.out.tfevents.176000000{number}.host.1.0"));
    Recording::begin_file(&file(0), STARTED_SECS).curve("loss", 0..100, |_| 1.0);
    let mut again = Recording::begin_file(&file(1), STARTED_SECS + 1e3);
    for step in 50..150 {
        again.scalar_at("loss", step, STARTED_SECS + 1e3 + step as f64, 2.0);
    }
    // Two concurrent writers are two lines, named by their files.
    let both = lab.base().join("both");
    for number in [0, 1] {
        let path = both.join(format!("events.out.tfevents.176000000{number}.host.1.0"));
        Recording::begin_file(&path, STARTED_SECS)
            .curve("loss", 0..100, |step| step as f32 + number as f32);
    }
    let server = lab.start();
    server.wait_for_points("run", "loss", 150);
    let browser = Browser::open().await;
    open(&browser, &server, "run", "scalars?runs=run&smooth=0").await;
    wait_until_said(&browser, "loss", "1 line").await;
    let without = browser.settled_picture(&canvas("loss")).await;
    // Half of the height is between the two attempts; a quarter of the width is covered by the first one alone.
    let above = pale_pixels(&browser).await;
    browser
        .click("[role=checkbox][aria-label='Show overwritten steps']")
        .await;
    browser
        .wait_for_other_picture(&canvas("loss"), without)
        .await;
    assert!(browser.url().await.contains("superseded=1"));
    assert!(pale_pixels(&browser).await > above + 20);
    // The readout shows the curve, not the points that it has superseded.
    browser.hover(&canvas("loss"), 0.5).await;
    browser.wait_for_element(&format!("{READOUT} td")).await;
    let tip = browser.text_of(READOUT).await.unwrap();
    assert!(tip.contains("2.000"), "{tip}");

    open(&browser, &server, "both", "scalars?runs=both").await;
    wait_until_said(&browser, "loss", "2 lines").await;
    browser.hover(&canvas("loss"), 0.5).await;
    browser.wait_for_text("both · 1760000000.host.1.0").await;
    browser.wait_for_text("both · 1760000001.host.1.0").await;
    browser.close();
}

#[tokio::test]
async fn attempts_of_a_run_are_named_with_their_dates() {
    const DAY: f64 = 86_400.0;
    let lab = Lab::new();
    // The second and third begin on one day, in any time zone: a minute apart, starting at noon UTC.
    let noon = (STARTED_SECS / DAY).floor() * DAY + DAY / 2.0;
    let begins = [noon, noon + 3.0 * DAY, noon + 3.0 * DAY + 60.0];
    let parts = [(0..100, 1.0), (0..20, 2.0), (0..5, 3.0)];
    for ((number, begin), (steps, value)) in (0..).zip(begins).zip(parts) {
        let name = format!("events.out.tfevents.176000000{number}.host.1.0");
        let mut file = Recording::begin_file(&lab.base().join("run").join(name), begin);
        for step in steps {
            file.scalar_at("loss", step, begin + step as f64, value);
        }
    }
    let server = lab.start();
    server.wait_for_points("run", "loss", 100);
    let browser = Browser::open().await;
    open(
        &browser,
        &server,
        "run",
        "scalars?smooth=0&superseded=1&at=2",
    )
    .await;
    wait_until_said(&browser, "loss", "1 line").await;
    browser.wait_for_text("attempt 3, ").await;
    let tip = browser.text_of(READOUT).await.unwrap();
    // Two of one day have the time of day, and the first has none.
    let lines: Vec<&str> = tip
        .lines()
        .filter(|line| line.contains("attempt"))
        .collect();
    let clocks = lines.iter().filter(|line| line.contains(':')).count();
    assert!(lines.len() == 3 && clocks == 2, "{tip}");
    assert!(tip.contains("attempt 1, "), "{tip}");
    assert_eq!(
        browser
            .count(&format!("{READOUT} [data-part=overwritten]"))
            .await,
        2
    );

    open(&browser, &server, "run", "scalars?smooth=0&at=90&lang=zh").await;
    browser.wait_for_text("第 1 次尝试，").await;
    browser.close();
}

/// Number of columns right of the restart with pixels at the height of the first attempt.
async fn pale_pixels(browser: &Browser) -> u64 {
    let script = "const canvas = document.querySelector('canvas[role=img]');
        const {width, height} = canvas;
        const left = Math.round(width * 0.45), right = Math.round(width * 0.62);
        const from = Math.round(height * 0.5), rows = Math.round(height * 0.4);
        const pixels = canvas.getContext('2d').getImageData(left, from, right - left, rows).data;
        const columns = new Set();
        for (let at = 0; at < pixels.length; at += 4) {
          const [r, g, b] = [pixels[at], pixels[at + 1], pixels[at + 2]];
          if (pixels[at + 3] > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 24)
            columns.add(at / 4 % (right - left));
        }
        return columns.size;";
    browser.run(script).await.as_u64().unwrap()
}

#[tokio::test]
async fn cards_of_the_own_run_come_before_those_of_its_neighbours() {
    let lab = Lab::new();
    let mut other = lab.record("folder/other");
    for tag in 0..50 {
        other.scalar(&format!("aaa/{tag:02}"), 0, 1.0);
    }
    // Two concurrent writers are one run; both are equally valid.
    for (run, number) in [("other", 1), ("own", 0)] {
        let name = format!("events.out.tfevents.176000000{number}.host.1.0");
        let path = lab.base().join("folder").join(run).join(name);
        let mut writer = Recording::begin_file(&path, STARTED_SECS);
        writer.curve("same", 0..10, |step| step as f32);
        if run == "own" {
            writer.curve("zzz", 0..10, |step| step as f32);
        } else {
            other.curve("same", 0..10, |step| step as f32);
        }
    }
    let server = lab.start();
    server.wait_for_points("folder/own", "zzz", 10);
    let browser = Browser::open().await;
    open(
        &browser,
        &server,
        "folder/own",
        "scalars?runs=folder/own,folder/other",
    )
    .await;
    let cards = async || {
        let script = "return [...document.querySelectorAll('section[data-tag]')].map(card => card.dataset.tag);";
        serde_json::from_value::<Vec<String>>(browser.run(script).await).unwrap()
    };
    browser
        .wait_for("the neighbour's cards after the own ones", async || {
            let cards = cards().await;
            (cards.len() > 2 && cards[..3] == ["same", "zzz", "aaa/00"]).then_some(())
        })
        .await;
    browser.wait_for_text("equal in both runs").await;
    browser.close();
}

#[tokio::test]
async fn a_tag_that_changes_its_kind_is_found_as_both() {
    let lab = Lab::new();
    let folder = lab.base().join("run");
    fs::create_dir(&folder).unwrap();
    let file = fs::File::create(folder.join("events.out.tfevents.1760000000.host.1.0")).unwrap();
    let mut out = RecordWriter::new(file, STARTED_SECS).unwrap();
    let histogram = Histogram {
        lefts: vec![0.0, 1.0],
        rights: vec![1.0, 2.0],
        counts: vec![3.0, 5.0],
        ..Histogram::default()
    };
    for step in 0..40 {
        let at = Moment {
            step,
            wall_time_secs: STARTED_SECS + step as f64,
        };
        if step < 20 {
            out.scalar("turns", at, step as f64).unwrap();
        } else {
            out.histogram("turns", at, &histogram).unwrap();
        }
    }
    drop(out);
    let server = lab.start();
    server.wait_for_points("run", "turns", 20);
    let browser = Browser::open().await;
    open(&browser, &server, "run", "scalars").await;
    wait_until_said(&browser, "turns", "step 0 to").await;
    open(&browser, &server, "run", "histograms").await;
    browser.wait_for_element("section[data-tag=turns]").await;
    browser.close();
}

#[tokio::test]
async fn a_server_that_goes_and_comes_back_is_said_and_followed() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..100, |step| step as f32);
    let server = lab.start();
    server.wait_for_points("run", "loss", 100);
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let browser = Browser::open().await;
    open(&browser, &server, "run", "scalars").await;
    wait_until_said(&browser, "loss", "step 0 to 100").await;
    let picture = browser.settled_picture(&canvas("loss")).await;
    server.crash();
    browser.wait_for_text("No connection to the server").await;
    // The drawn picture stays.
    assert_eq!(browser.picture(&canvas("loss")).await, picture);
    recording.curve("loss", 100..300, |step| 300.0 - step as f32);
    // The retry interval grows while the server is gone, unless the user clicks.
    browser
        .wait_until("/Trying again in ([5-9]|\\d\\d) s/.test(document.body.textContent)")
        .await;
    let server = lab.start_with(&["--port", &port]);
    let asked = browser
        .run(
            "const Source = window.EventSource;
             let asked = 0;
             window.EventSource = function (address) { asked++; return new Source(address); };
             const button = [...document.querySelectorAll('[role=status] button')]
               .find(button => button.textContent === 'Try now');
             button.click();
             window.EventSource = Source;
             return asked;",
        )
        .await;
    assert_eq!(asked, 1, "a press asks at once");
    wait_until_said(&browser, "loss", "step 0 to 300").await;
    browser
        .wait_for("the note to go", async || {
            let text = browser.text().await;
            (!text.contains("No connection to the server")).then_some(())
        })
        .await;
    drop(server);
    // Failed requests are in the console, also those for parts of the page that it had not used yet.
    browser.close_despite_any(&["net::ERR", "Failed to fetch"]);
}

#[tokio::test]
async fn long_names_leave_room_for_numbers_and_links_say_what_is_gone() {
    let lab = Lab::new();
    let name = |seed: u32| {
        format!("bert-base-uncased_finetune_lr3e-5_bs32_warmup500_seed{seed}_2026-11-21_22-14-03")
    };
    for seed in 0..4 {
        lab.record(&name(seed))
            .curve("loss", 0..300, |step| (step + i64::from(seed)) as f32);
    }
    let server = lab.start();
    server.wait_for_points(&name(3), "loss", 300);
    let browser = Browser::open().await;
    let names: Vec<String> = (0..4).map(name).collect();
    let page = format!("scalars?runs={}&baseline=gone&smooth=0.6", names.join(","));
    open(&browser, &server, &names[0], &page).await;
    wait_until_said(&browser, "loss", "4 lines").await;
    browser.wait_for_text("There is no run gone").await;
    browser.hover(&canvas("loss"), 0.5).await;
    let numbers = format!("{READOUT} td ~ td");
    browser.wait_for_element(&numbers).await;
    browser
        .wait_until(&format!(
            "(() => {{
                const tip = document.querySelector('{READOUT}').getBoundingClientRect();
                const cells = [...document.querySelectorAll('{numbers}')];
                return cells.length >= 8 && tip.right <= innerWidth && cells.every(cell => {{
                    const seen = cell.getBoundingClientRect();
                    return seen.right <= tip.right && cell.scrollWidth <= cell.clientWidth;
                }});
            }})()"
        ))
        .await;
    open(&browser, &server, &names[0], "scalars?full=gone/tag").await;
    browser.wait_for_text("No shown run has gone/tag").await;
    browser.goto(&server, "/?panel=files:odd/gone").await;
    browser.wait_for_text("There is no run odd/gone").await;
    assert_eq!(browser.count(&format!("{PANEL} input")).await, 0);
    browser.close();
}

#[tokio::test]
async fn a_page_whose_code_cannot_be_fetched_says_so_and_tries_again() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..50, |step| step as f32);
    let web = lab.path("web");
    copy_folder(&bundle_folder(), &web);
    let part = web.join("page-tensors.bin");
    fs::set_permissions(&part, Permissions::from_mode(0o000)).unwrap();
    let server = lab.start_with(&["--web-dir", web.to_str().unwrap()]);
    server.wait_for_points("run", "loss", 50);
    let browser = Browser::open().await;
    open(&browser, &server, "run", "tensors").await;
    browser.wait_for_text("This page could not be loaded").await;
    fs::set_permissions(&part, Permissions::from_mode(0o644)).unwrap();
    browser.click("main button").await;
    browser.wait_for_text("No tensors were recorded").await;
    browser.close_despite("page-tensors.bin");
}
