//! What stands around the curves in a real browser: the runs and tags at the left, the toolbar, the menus of cards. Each
//! control is used, and what it changes is seen.

use crate::support::{Browser, Lab, Server};

/// Three runs, of which two begin with the same letter, with tags in two groups.
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

/// Waits until a script says that something is so.
async fn wait_until(browser: &Browser, script: &str) {
    browser
        .wait_for(script, async || {
            let script = format!("return !!({script})");
            browser.run(&script).await.as_bool()?.then_some(())
        })
        .await;
}

/// Waits until the first card says so many lines to a screen reader.
async fn wait_for_lines(browser: &Browser, lines: &str) {
    let canvas = "document.querySelector('section[data-tag=\"train/loss\"] canvas[role=img]')";
    wait_until(
        browser,
        &format!("{canvas}?.getAttribute('aria-label').includes('{lines}')"),
    )
    .await;
}

async fn wait_for_address(browser: &Browser, wanted: &str) {
    wait_until(browser, &format!("location.search.includes('{wanted}')")).await;
}

#[tokio::test]
async fn runs_at_the_left_are_added_hidden_and_shown_alone() {
    let lab = Lab::new();
    let (server, browser) = three_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a,ab").await;
    wait_for_lines(&browser, "2 lines").await;

    // A run that is not there is looked for and added.
    browser.click("button[aria-label='Add a run']").await;
    let field = ".add-run input";
    browser.fill(field, "no such").await;
    browser.wait_for_text("No other run has this name").await;
    browser.press('\u{e00c}').await;
    wait_until(&browser, "!document.querySelector('.add-run')").await;

    // A press hides a run, another one shows it again; a double click leaves it alone.
    let row = ".run-row button[aria-label='ab']";
    browser.click(row).await;
    wait_for_lines(&browser, "1 line,").await;
    browser.wait_for_element(".run-row i.hollow").await;
    browser.click(row).await;
    wait_for_lines(&browser, "2 lines").await;
    let script = format!(
        "document.querySelector(\"{row}\").dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))"
    );
    browser.run(&script).await;
    wait_for_lines(&browser, "1 line,").await;
    wait_until(
        &browser,
        "document.querySelector(\".run-row button[aria-label='a']\").ariaChecked === 'false'",
    )
    .await;
    browser.close().await;
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
    wait_until(&browser, &cards("train/acc,train/loss,val/acc,val/loss")).await;

    // A tag, a group, all tags.
    browser.click("[aria-label='Show train/acc']").await;
    wait_until(&browser, &cards("train/loss,val/acc,val/loss")).await;
    browser.click("[aria-label='Show val/']").await;
    wait_until(&browser, &cards("train/loss")).await;
    browser.click("[aria-label='Show all tags']").await;
    wait_until(&browser, &cards("train/acc,train/loss,val/acc,val/loss")).await;
    browser
        .run(
            "document.querySelector('[role=treeitem][title=\"val/loss\"] .name')
               .dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))",
        )
        .await;
    wait_until(&browser, &cards("val/loss")).await;
    browser.click("[aria-label='Show all tags']").await;

    // What is folded away keeps its cards.
    let leaf = "document.querySelector('[role=treeitem][title=\"val/loss\"]')";
    browser.click("[role=treeitem][title='val/'] .fold").await;
    wait_until(&browser, &format!("!{leaf}")).await;
    wait_until(&browser, &cards("train/acc,train/loss,val/acc,val/loss")).await;
    browser.click("[role=treeitem][title='val/'] .fold").await;
    wait_until(&browser, leaf).await;

    // The pin of a card stands at the left, where it is taken away again.
    let pin = "section[data-tag='val/loss'] button[aria-label='Pin']";
    browser.click(pin).await;
    browser.wait_for_text("pinned").await;
    browser.click(".t.d1 button[aria-label='Unpin']").await;
    wait_until(&browser, &format!("document.querySelector(\"{pin}\")")).await;
    browser.close().await;
}

#[tokio::test]
async fn the_toolbar_and_the_menu_of_a_card_change_what_is_drawn() {
    const CANVAS: &str = "section[data-tag='train/loss'] canvas[role=img]";
    let lab = Lab::new();
    let (server, browser) = three_runs(&lab).await;
    browser.goto(&server, "/run/a/scalars?runs=a").await;
    wait_for_lines(&browser, "1 line,").await;
    let mut last = browser.settled_picture(CANVAS).await;
    let segment = |group: &str, number: u8| {
        format!(".toolbar .seg[aria-label='{group}'] button:nth-child({number})")
    };
    for (button, address) in [
        (segment("x axis", 2), "x=relative"),
        (segment("x axis", 3), "x=wall"),
        (segment("y axis", 2), "y=log"),
        (segment("y axis", 3), "y=symlog"),
    ] {
        browser.click(&button).await;
        wait_for_address(&browser, address).await;
        last = browser.wait_for_other_picture(CANVAS, last).await;
    }
    browser.click(&segment("x axis", 1)).await;
    browser.click(&segment("y axis", 1)).await;
    wait_until(&browser, "!location.search.includes('y=')").await;

    // The slider by keyboard, the envelope by its box.
    browser.settled_picture(CANVAS).await;
    browser.click("input[type=range]").await;
    browser.press('\u{e014}').await;
    wait_for_address(&browser, "smooth=").await;
    last = browser.settled_picture(CANVAS).await;
    browser.press('\u{e014}').await;
    last = browser.wait_for_other_picture(CANVAS, last).await;
    browser.click("[role=checkbox][aria-label='Min–max']").await;
    browser.wait_for_other_picture(CANVAS, last).await;

    // Back, by the button, to where one was before.
    browser.drag_over(CANVAS, 0.4, 0.6).await;
    wait_for_address(&browser, "range=").await;
    browser
        .click("button[aria-label='Back to the range before (z)']")
        .await;
    wait_until(&browser, "!location.search.includes('range=')").await;

    // The points as a table, beside the cards.
    browser
        .click("section[data-tag='train/loss'] button[aria-label='More']")
        .await;
    browser
        .run(
            "[...document.querySelectorAll('.card-menu button')]
               .find(one => one.textContent.trim() === 'Show as table').click()",
        )
        .await;
    wait_until(
        &browser,
        "document.querySelectorAll('.right-panel tbody tr').length > 10",
    )
    .await;
    browser
        .click(".right-panel button[aria-label='Close']")
        .await;
    wait_until(&browser, "!document.querySelector('.right-panel')").await;
    browser.close().await;
}
