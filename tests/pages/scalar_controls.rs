//! Controls around the curves in a real browser: runs and tags at the left, toolbar, menus of cards. Each control is
//! used, and its effect checked.

use crate::support::lab::{STARTED_SECS, copy_folder, workspace_root};
use crate::support::parts::{PANEL, READOUT};
use crate::support::{Browser, Lab, Server};

const ESCAPE: char = '\u{e00c}';

/// Three runs, two of which begin with the same letter, with tags in two groups.
async fn three_runs(lab: &Lab) -> (Server, Browser) {
    for (run, above) in [("a", 0.0_f32), ("ab", 1.0), ("c", 2.0)] {
        lab.record(run)
            .curve("train/loss", 0..200, |step| {
                5.0 - step as f32 / 50.0 + above
            })
            .curve("train/acc", 0..200, |step| step as f32 / 200.0 + above)
            .curve("val/acc", 0..200, |step| step as f32 / 250.0 + above)
            .curve("val/loss", 0..200, |step| 6.0 - step as f32 / 50.0 + above);
    }
    let server = lab.start();
    server.wait_for_points("c", "val/loss", 200);
    (server, Browser::open().await)
}

/// Waits until the first card announces these lines to a screen reader.
async fn wait_for_lines(browser: &Browser, lines: &str) {
    let canvas = "document.querySelector('section[data-tag=\"train/loss\"] canvas[role=img]')";
    browser
        .wait_until(&format!(
            "{canvas}?.getAttribute('aria-label').includes('{lines}')"
        ))
        .await;
}

async fn wait_for_address(browser: &Browser, wanted: &str) {
    browser
        .wait_until(&format!("location.search.includes('{wanted}')"))
        .await;
}

#[tokio::test]
async fn a_run_opens_alone_and_its_folder_is_one_click_away() {
    let lab = Lab::new();
    let (server, browser) = three_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars").await;
    wait_for_lines(&browser, "1 line,").await;
    browser
        .wait_for_element("ul[aria-label=Runs] button[aria-current][aria-label='a']")
        .await;
    browser.click_text("button", "Compare with folder").await;
    wait_for_lines(&browser, "3 lines").await;
    let hues = "new Set([...document.querySelectorAll('ul[aria-label=Runs] [data-colour]')]
        .map(chip => getComputedStyle(chip).getPropertyValue('--c'))).size";
    browser.wait_until(&format!("{hues} === 3")).await;
    browser.close();
}

#[tokio::test]
async fn runs_at_the_left_are_added_hidden_and_shown_alone() {
    let lab = Lab::new();
    let (server, browser) = three_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a,ab").await;
    wait_for_lines(&browser, "2 lines").await;

    // A run that is not listed is searched for and added.
    browser.click("button[aria-label='Add a run']").await;
    let field = "input[aria-label='Add a run']";
    let offered = "[role=dialog][aria-label='Add a run'] li button";
    browser.fill(field, "no such").await;
    browser.wait_for_text("No other run has this name").await;
    browser.press('\u{e00c}').await;
    browser.wait_for_count("[role=dialog]", 0).await;

    // The list opens over the tags and moves none of them.
    let top = "return document.querySelector('[role=tree]').getBoundingClientRect().top";
    let before = browser.run(top).await;
    browser.click("button[aria-label='Add a run']").await;
    browser.wait_for_element(offered).await;
    assert_eq!(browser.run(top).await, before);
    browser.press('\u{e00c}').await;

    // A listed run is added by a click, or the first suggestion by the enter key.
    browser.click("button[aria-label='Add a run']").await;
    browser.fill(field, "c").await;
    browser.click(&format!("{offered}[title='c']")).await;
    wait_for_lines(&browser, "3 lines").await;
    wait_for_address(&browser, "runs=a").await;
    browser.goto(&server, "/run/a/scalars?runs=a").await;
    browser.click("button[aria-label='Add a run']").await;
    browser.fill(field, "ab").await;
    browser.wait_for_element(offered).await;
    browser.press('\u{e007}').await;
    wait_for_lines(&browser, "2 lines").await;

    // A click hides a run, another one shows it again; a double click isolates it.
    let row = "[role=checkbox][aria-label='ab']";
    browser.click(row).await;
    wait_for_lines(&browser, "1 line,").await;
    browser
        .wait_for_element(&format!("{row}[aria-checked=false]"))
        .await;
    browser.click(row).await;
    wait_for_lines(&browser, "2 lines").await;
    let script = format!(
        "document.querySelector(\"{row}\").dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))"
    );
    browser.run(&script).await;
    wait_for_lines(&browser, "1 line,").await;
    browser
        .wait_until(
            "document.querySelector(\"[role=checkbox][aria-label='a']\").ariaChecked === 'false'",
        )
        .await;
    browser.close();
}

#[tokio::test]
async fn the_counts_beside_tags_are_those_of_the_cards() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("train/loss", 0..200, |step| 1.0 / (1.0 + step as f32));
    let server = lab.start();
    server.wait_for_points("run", "train/loss", 200);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/scalars").await;
    wait_for_lines(&browser, "1 line,").await;
    for step in 200..209 {
        recording.scalar("train/loss", step, 0.5);
    }
    recording.scalar("train/loss", 209, f32::NAN);
    // Label of the card and count of the tag, at the same moment.
    let both = "return [
        document.querySelector('section[data-tag=\"train/loss\"] canvas')?.ariaLabel,
        document.querySelector('[role=treeitem][title=\"train/loss\"]')?.textContent,
    ]";
    let count = browser
        .wait_for("the card to draw the NaN", async || {
            let both = browser.run(both).await;
            let label = both[0].as_str().unwrap_or_default();
            let count = both[1].as_str().unwrap_or_default();
            (label.contains("NaN") && !count.is_empty()).then(|| count.to_owned())
        })
        .await;
    assert!(count.contains("210"), "{count}");
    browser.close();
}

#[tokio::test]
async fn runs_whose_names_end_alike_are_told_apart() {
    let lab = Lab::new();
    for run in ["torch/run1", "jax/run1", "jax/run2"] {
        lab.record(run).curve("loss", 0..20, |step| step as f32);
    }
    let server = lab.start();
    server.wait_for_points("torch/run1", "loss", 20);
    let browser = Browser::open().await;
    let page = "/run/torch%2Frun1/scalars?runs=torch%2Frun1,jax%2Frun1,jax%2Frun2";
    browser.goto(&server, page).await;
    let names =
        "[...document.querySelectorAll('[data-part=name]')].map(name => name.textContent).join()";
    browser
        .wait_until(&format!("{names} === 'torch/run1,jax/run1,run2'"))
        .await;
    // The values at the pointer have the same names.
    let canvas = "section[data-tag='loss'] canvas[role=img]";
    browser.wait_for_element(canvas).await;
    browser.hover(canvas, 0.5).await;
    let names = format!(
        "[...document.querySelectorAll('{READOUT} td:first-child')].map(name => name.textContent).sort().join()"
    );
    browser
        .wait_until(&format!("{names} === 'jax/run1,run2,torch/run1'"))
        .await;
    browser.close();
}

#[tokio::test]
async fn tags_at_the_left_are_ticked_folded_and_pinned() {
    let lab = Lab::new();
    let (server, browser) = three_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a").await;
    wait_for_lines(&browser, "1 line,").await;
    let cards = |tags: &str| {
        format!(
            "[...document.querySelectorAll('section[data-tag]')].map(one => one.dataset.tag).sort().join() === '{tags}'"
        )
    };
    browser
        .wait_until(&cards("train/acc,train/loss,val/acc,val/loss"))
        .await;

    // A tag, a group, all tags.
    browser.click("[aria-label='Show train/acc']").await;
    browser
        .wait_until(&cards("train/loss,val/acc,val/loss"))
        .await;
    browser.click("[aria-label='Show val/']").await;
    browser.wait_until(&cards("train/loss")).await;
    browser.click("[aria-label='Show all tags']").await;
    browser
        .wait_until(&cards("train/acc,train/loss,val/acc,val/loss"))
        .await;
    browser
        .run(
            "document.querySelector('[role=treeitem][title=\"val/loss\"] button:not([role])')
               .dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))",
        )
        .await;
    browser.wait_until(&cards("val/loss")).await;
    browser.click("[aria-label='Show all tags']").await;

    // Collapsing hides the tags, not their cards.
    let leaf = "document.querySelector('[role=treeitem][title=\"val/loss\"]')";
    browser
        .click("[role=treeitem][title='val/'] button:not([role])")
        .await;
    browser.wait_until(&format!("!{leaf}")).await;
    browser
        .wait_until(&cards("train/acc,train/loss,val/acc,val/loss"))
        .await;
    browser
        .click("[role=treeitem][title='val/'] button:not([role])")
        .await;
    browser.wait_until(leaf).await;

    // A pinned card is listed at the left, where it can be unpinned.
    let pin = "section[data-tag='val/loss'] button[aria-label='Pin']";
    browser.click(pin).await;
    browser.wait_for_text("pinned").await;
    browser
        .click("[role=tree] button[aria-label='Unpin']")
        .await;
    browser
        .wait_until(&format!("document.querySelector(\"{pin}\")"))
        .await;
    browser.close();
}

#[tokio::test]
async fn the_toolbar_and_the_menu_of_a_card_change_what_is_drawn() {
    const CANVAS: &str = "section[data-tag='train/loss'] canvas[role=img]";
    let lab = Lab::new();
    let (server, browser) = three_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a").await;
    wait_for_lines(&browser, "1 line,").await;
    let mut last = browser.settled_picture(CANVAS).await;
    let [x_axis, y_axis] = [
        "[aria-label='x axis'] button",
        "[aria-label='y axis'] button",
    ];
    for (axis, word, address) in [
        (x_axis, "Relative", "x=relative"),
        (x_axis, "Wall", "x=wall"),
        (y_axis, "Log", "y=log"),
        (y_axis, "Symlog", "y=symlog"),
    ] {
        browser.click_text(axis, word).await;
        wait_for_address(&browser, address).await;
        last = browser.wait_for_other_picture(CANVAS, last).await;
    }
    browser.click_text(x_axis, "Step").await;
    browser.click_text(y_axis, "Linear").await;
    browser.wait_until("!location.search.includes('y=')").await;

    // The slider by keyboard, the envelope by its checkbox.
    browser.settled_picture(CANVAS).await;
    browser.click("input[type=range]").await;
    browser.press('\u{e014}').await;
    wait_for_address(&browser, "smooth=").await;
    last = browser.settled_picture(CANVAS).await;
    browser.press('\u{e014}').await;
    last = browser.wait_for_other_picture(CANVAS, last).await;
    browser.click("[role=checkbox][aria-label='Min–max']").await;
    browser.wait_for_other_picture(CANVAS, last).await;

    // The button returns to the previous view.
    browser.drag_over(CANVAS, 0.4, 0.6).await;
    wait_for_address(&browser, "range=").await;
    browser
        .click("button[aria-label='Previous range (z)']")
        .await;
    browser
        .wait_until("!location.search.includes('range=')")
        .await;

    // The points as a table, next to the cards.
    browser
        .click("section[data-tag='train/loss'] button[aria-label='More']")
        .await;
    browser
        .click_text("[role=menu] button", "Show as table")
        .await;
    browser
        .wait_until("document.querySelectorAll('[data-part=panel] tbody tr').length > 10")
        .await;
    // Next to it, the toolbar keeps its line, and cards their two columns.
    let lefts = "new Set([...document.querySelectorAll('section[data-tag]')]
        .map((card) => Math.round(card.getBoundingClientRect().left))).size == 2";
    browser.wait_until(lefts).await;
    let lines = "return new Set([...document.querySelector('[role=toolbar]').children]
        .map((part) => Math.round(part.getBoundingClientRect().top / 20))).size";
    assert_eq!(browser.run(lines).await, 1);
    browser
        .click(&format!("{PANEL} button[aria-label='Close']"))
        .await;
    browser.wait_for_count("[data-part=panel]", 0).await;
    browser.close();
}

#[tokio::test]
async fn what_the_keys_do_to_the_cards_and_the_crosshair() {
    const CANVAS: &str = "section[data-tag='train/loss'] canvas[role=img]";
    let lab = Lab::new();
    let (server, browser) = three_runs(&lab).await;
    browser
        .goto(&server, "/run/a/scalars?runs=a&smooth=0&q=loss")
        .await;
    wait_for_lines(&browser, "step 0 to 200").await;
    // The crosshair starts at the end; a key moves it by one point, with shift by ten.
    browser.press('\u{e012}').await;
    browser.wait_for_element(READOUT).await;
    browser.press('\u{e012}').await;
    browser.wait_for_text("step 198").await;
    browser.press('\u{e014}').await;
    browser.wait_for_text("step 199").await;
    browser.press(ESCAPE).await;
    browser.wait_for_count("[data-part=readout]", 0).await;

    // Zoom in, pan, zoom out, by each of the keys for it.
    for (key, other) in [('w', 's'), ('+', '-')] {
        let whole = browser.settled_picture(CANVAS).await;
        browser.press(key).await;
        wait_for_address(&browser, "range=").await;
        let near = browser.wait_for_other_picture(CANVAS, whole).await;
        browser.press('a').await;
        let left = browser.wait_for_other_picture(CANVAS, near).await;
        browser.press('d').await;
        browser.wait_for_other_picture(CANVAS, left).await;
        browser.press(other).await;
        browser.press(other).await;
        browser.press('f').await;
        wait_for_lines(&browser, "step 0 to 200").await;
    }
    // From card to card and back; one card fills the page, until the key, the button or the escape key restores it.
    browser.press('j').await;
    browser.press('j').await;
    browser
        .wait_for_element("section[aria-current][data-tag='val/loss']")
        .await;
    browser.press('k').await;
    browser
        .wait_for_element("section[aria-current][data-tag='train/loss']")
        .await;
    for key in ['o', ESCAPE] {
        browser.press('o').await;
        browser.wait_for_count("section[data-tag]", 1).await;
        browser.press(key).await;
        browser.wait_for_count("section[data-tag]", 2).await;
    }
    browser
        .click("section[data-tag='val/loss'] button[aria-label^='Full']")
        .await;
    wait_for_address(&browser, "full=val").await;
    browser
        .click("section[data-tag='val/loss'] button[aria-label='Back to all cards']")
        .await;
    browser.wait_for_count("section[data-tag]", 2).await;
    // The card fills the whole screen.
    browser
        .click("section[data-tag='train/loss'] button[aria-label='More']")
        .await;
    browser
        .click_text("[role=menu] button", "Full screen")
        .await;
    browser
        .wait_until("document.fullscreenElement?.dataset.tag === 'train/loss'")
        .await;
    browser.run("document.exitFullscreen()").await;
    browser.wait_until("!document.fullscreenElement").await;

    // If a filter or the checkboxes leave nothing, the page explains how to undo them.
    let field = "input[aria-label='Filter tags (regular expression)']";
    browser.fill(field, "nothing").await;
    browser
        .click_text("[role=status] button", "Clear filter")
        .await;
    browser.wait_for_count("section[data-tag]", 4).await;
    browser.fill(field, "(").await;
    browser.wait_for_element("input[aria-invalid=true]").await;
    browser.press(ESCAPE).await;
    browser.wait_for_element("input[aria-invalid=false]").await;
    browser.click("[aria-label='Show all tags']").await;
    browser
        .click_text("[role=status] button", "Select all")
        .await;
    browser.wait_for_count("section[data-tag]", 4).await;
    // A scalar for the x axis is searched by typing.
    browser
        .click("button[aria-label$='Another scalar as x axis']")
        .await;
    browser.fill("[role=dialog] input", "val/acc").await;
    browser.press('\u{e007}').await;
    wait_for_address(&browser, "x=tag:val").await;
    browser.close();
}

#[tokio::test]
async fn runs_are_grouped_by_what_they_were_given() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(
        &workspace_root().join("sample-runs/torch"),
        &folder.join("torch"),
    );
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    let page = "/run/torch/hp0/scalars?runs=torch/hp0,torch/hp1,torch/hp2&q=loss";
    browser.goto(&server, page).await;
    browser.click("button[aria-label='View options']").await;
    // Two are without nesterov, three are in one folder; each kind of band draws another picture.
    let canvas = "document.querySelector('canvas[role=img]')";
    for (by, lines) in [
        ("hp:nesterov", "2 lines"),
        ("folder", "1 line,"),
        ("", "3 lines"),
    ] {
        browser.set("select[aria-label='Group runs by']", by).await;
        browser
            .wait_until(&format!(
                "{canvas}?.getAttribute('aria-label').includes('{lines}')"
            ))
            .await;
        if by == "folder" {
            let mut last = browser.settled_picture("canvas[role=img]").await;
            for (word, address) in [("± std dev", "spread=std"), ("± std error", "spread=err")] {
                browser.click_text("[aria-label='Band'] button", word).await;
                wait_for_address(&browser, address).await;
                last = browser
                    .wait_for_other_picture("canvas[role=img]", last)
                    .await;
            }
        }
    }
    browser.close();
}

#[tokio::test]
async fn a_smoothed_value_is_that_of_its_point_from_near_and_far() {
    let lab = Lab::new();
    let values: Vec<f32> = (0..600).map(|step| (step * 7_919 % 101) as f32).collect();
    lab.record("run").curve("loss", 0..600, |step| {
        values[usize::try_from(step).unwrap()]
    });
    let server = lab.start();
    server.wait_for_points("run", "loss", 600);
    // As other programs count: each point as one, without the bias of the beginning.
    let (mut sum, mut share) = (0.0, 0.0);
    for value in values {
        sum = 0.6 * sum + 0.4 * f64::from(value);
        share = 0.6 * share + 0.4;
    }
    let wanted = format!("{:.2}", sum / share);
    let browser = Browser::open().await;
    for range in ["", "&range=400,599", "&range=585,599"] {
        let page = format!("/run/run/scalars?smooth=0.6&size=l{range}");
        browser.goto(&server, &page).await;
        browser.wait_for_element("canvas[role=img]").await;
        browser.settled_picture("canvas[role=img]").await;
        browser.press('\u{e012}').await;
        browser.wait_for_text("step 599").await;
        let tip = browser.text_of(READOUT).await.unwrap();
        assert!(tip.contains(&wanted), "{wanted} in {tip} of {range}");
    }
    browser.close();
}

#[tokio::test]
async fn steps_that_restart_each_epoch_are_drawn_by_time() {
    let lab = Lab::new();
    let mut run = lab.record("run");
    for epoch in 0..5 {
        for step in 0..50 {
            let time = STARTED_SECS + f64::from(epoch * 50 + step);
            run.scalar_at("loss", i64::from(step), time, 1.0 / (1.0 + step as f32));
        }
    }
    run.curve("lr", 0..50, |_| 0.1);
    let server = lab.start();
    server.wait_for_points("run", "lr", 50);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/scalars").await;
    let link = "button[title^='The steps of this tag start again with each epoch']";
    browser
        .wait_for_element(&format!("section[data-tag=loss] {link}"))
        .await;
    let other = format!("section[data-tag=lr] {link}");
    assert_eq!(browser.count(&other).await, 0);
    // From the first to the last second, not from step 0 to 49.
    let said =
        "return document.querySelector('section[data-tag=loss] canvas').getAttribute('aria-label')";
    let said = browser.run(said).await.to_string();
    assert!(said.contains("4:0"), "{said}");
    browser.click(link).await;
    browser
        .wait_for("relative time", async || {
            browser.url().await.contains("x=relative").then_some(())
        })
        .await;
    browser.close();
}
