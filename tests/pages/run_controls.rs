//! Controls around the list of runs in a real browser: filter, states, column headers, rows by keyboard, notes, and
//! the bar on every page. Each control is used, and its effect checked.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::parts::{HIT, PANEL, RUN_NAME, SELECTION};
use crate::support::{Browser, Lab, Server, wait_for};

const ESCAPE: char = '\u{e00c}';
const ENTER: char = '\u{e007}';
const BACKSPACE: char = '\u{e003}';

/// The sample runs below one folder.
async fn open_samples(lab: &Lab) -> (Server, Browser) {
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser.wait_for_element(RUN_NAME).await;
    (server, browser)
}

/// Names of the runs from the top, and the words next to them.
async fn names(browser: &Browser) -> Vec<String> {
    let script = "return [...document.querySelectorAll('tr:not([hidden]) > [role=rowheader]')]
        .map(name => name.textContent.trim());";
    serde_json::from_value(browser.run(script).await).unwrap()
}

async fn wait_for_names(browser: &Browser, wanted: &[&str]) {
    browser
        .wait_for(&format!("the runs {wanted:?}"), async || {
            (names(browser).await == wanted).then_some(())
        })
        .await;
}

#[tokio::test]
async fn terms_states_and_heads_leave_and_order_the_rows() {
    let lab = Lab::new();
    let (_server, browser) = open_samples(&lab).await;
    // A term becomes a chip, which its button and the backspace key remove.
    let field = "input[aria-label='Filter runs']";
    browser.fill(field, "mlp status:gone ").await;
    browser.wait_for_text("No runs match").await;
    browser
        .click("button[aria-label='Remove status:gone']")
        .await;
    browser
        .wait_for("the runs", async || {
            (browser.count(RUN_NAME).await >= 8).then_some(())
        })
        .await;
    browser.fill(field, "status:gone ").await;
    browser
        .wait_for_element("button[aria-label='Remove status:gone']")
        .await;
    browser.press(BACKSPACE).await;
    browser.wait_until("!location.search.includes('q=')").await;
    // An unknown key is reported, with the list of known ones.
    browser.fill(field, "healthy:no").await;
    browser
        .wait_for_text("No key healthy. Keys: name, folder")
        .await;
    browser.fill(field, "nothing of the kind").await;
    browser.press(ESCAPE).await;
    browser
        .click_text("[role=status] button", "Clear the filter")
        .await;
    browser.wait_until("!location.search.includes('q=')").await;

    // Each state shows its number of runs, and filters to as many.
    for (state, address) in [
        ("[title='Runs with errors']", "errors"),
        ("[title='Runs with warnings']", "warnings"),
        ("[title^='Runs with damaged']", "damaged"),
        ("[title='Runs in which no problem was found']", "healthy"),
        ("[title='Runs that are being written']", "live"),
    ] {
        let button = format!("[aria-label=State] button{state}");
        let says = browser.text_of(&button).await.unwrap();
        let wanted: usize = says.trim().parse().unwrap();
        browser.click(&button).await;
        browser
            .wait_for(&format!("{says} runs of {address}"), async || {
                let rows = names(&browser).await.len();
                let url = browser.url().await;
                // Of long lists only the rows in view, and some beyond, are in the DOM.
                let is_left = wanted.min(16) <= rows && rows <= wanted;
                (url.contains(address) && is_left).then_some(())
            })
            .await;
    }
    browser
        .click_text("[aria-label=State] button", "All ")
        .await;

    // Suggestions close with the enter key, with Escape and with an emptied field, and leave the first header free.
    let options = "[role=listbox] [role=option]";
    let is_closed = "!document.querySelector('[role=listbox]')";
    browser.fill(field, "sta").await;
    browser.wait_for_element(options).await;
    browser.click("th[data-column=name] button").await;
    browser.wait_until(is_closed).await;
    for key in [ENTER, ESCAPE] {
        browser.fill(field, "sta").await;
        browser.wait_for_element(options).await;
        browser.press(key).await;
        browser.wait_until(is_closed).await;
        let is_focused = format!("document.activeElement === document.querySelector(\"{field}\")");
        browser.wait_until(&is_focused).await;
    }
    browser.fill(field, "st").await;
    browser.wait_for_element(options).await;
    for _ in 0..2 {
        browser.press(BACKSPACE).await;
    }
    browser.wait_until(is_closed).await;
    browser.click("th[data-column=name] button").await;

    // Each header sorts by its column, ascending and descending.
    browser.fill(field, "torch/hp").await;
    for (head, up) in [
        ("name", ["hp0", "hp1", "hp2"]),
        ("loss", ["hp0", "hp1", "hp2"]),
        ("metric", ["hp0", "hp1", "hp2"]),
    ] {
        let head = format!("th[data-column={head}]");
        let button = format!("{head} button");
        browser.click(&button).await;
        if browser.attribute(&head, "aria-sort").await == "descending" {
            browser.click(&button).await;
        }
        wait_for_names(&browser, &up).await;
        browser.click(&button).await;
        wait_for_names(&browser, &[up[2], up[1], up[0]]).await;
    }
    for head in ["files", "status", "steps", "updated", "duration"] {
        let head = format!("th[data-column={head}]");
        browser.click(&format!("{head} button")).await;
        browser
            .wait_for_element(&format!("{head}[aria-sort]"))
            .await;
    }
    browser.close();
}

#[tokio::test]
async fn rows_are_chosen_by_keys_and_boxes_and_lead_on() {
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    browser.goto(&server, "/?q=torch/hp&sort=name").await;
    browser.wait_for_count(RUN_NAME, 3).await;
    // Down two rows, up one, and both are selected; the escape key clears the selection.
    for key in ['j', 'x', 'j', 'x', 'k'] {
        browser.press(key).await;
    }
    browser.wait_for_text("2 selected").await;
    browser.press(ESCAPE).await;
    browser.wait_for_count(SELECTION, 0).await;
    let all = "[aria-label='Select all runs in view']";
    browser.click(all).await;
    browser.wait_for_text("3 selected").await;
    browser
        .click("button[aria-label='Clear the selection']")
        .await;
    browser.wait_for_count(SELECTION, 0).await;
    browser.click(all).await;
    browser.press('c').await;
    browser
        .wait_until("location.pathname === '/compare' && location.search.split(',').length === 3")
        .await;
    browser.run("history.back()").await;
    browser.wait_for_text("3 selected").await;
    browser.press('s').await;
    browser.wait_for_count("ul[aria-label=Runs] > li", 3).await;
    browser.run("history.back()").await;
    browser
        .click(&format!("{SELECTION} a[href*='/scalars']"))
        .await;
    browser.wait_for_element("ul[aria-label=Runs] > li").await;
    browser.run("history.back()").await;
    browser.press('j').await;
    browser.press(ENTER).await;
    browser
        .wait_until("location.pathname.endsWith('/overview')")
        .await;

    // Each kind of data links to its page; problems link to the debugger.
    for (kind, address) in [
        ("Scalars", "/scalars"),
        ("Histograms", "/histograms"),
        ("Images", "/images"),
        ("Text", "/text"),
        ("Tensors", "/tensors"),
        ("Graph", "/graph"),
        ("Data set", "/pipeline"),
    ] {
        browser.goto(&server, "/?q=mlp/overflow").await;
        browser
            .click(&format!("td a[aria-label^='{kind}: ']"))
            .await;
        browser
            .wait_until(&format!(
                "location.pathname === '/run/mlp/overflow{address}' && document.querySelector('nav [aria-current]')"
            ))
            .await;
    }
    browser.goto(&server, "/?q=mlp/overflow").await;
    browser.wait_for_text("1 with errors").await;
    browser.click("td a[data-severity]").await;
    browser.wait_for_element(HIT).await;
    // Its files and notes have a panel with a link to the curves.
    browser.goto(&server, "/?panel=files:mlp/torn").await;
    browser.wait_for_text("truncated").await;
    browser
        .click_text(&format!("{PANEL} a"), "Show scalars")
        .await;
    browser.wait_for_element("section[data-tag]").await;
    browser.close();
}

/// Waits until the saved notebook has a text: changes are shown before they are saved.
fn wait_for_notebook(server: &Server, text: &str) {
    wait_for("a change to be saved", || {
        let notebook = server.get("/api/notebook").body;
        let has_it = String::from_utf8_lossy(&notebook).contains(text);
        has_it.then_some(())
    });
}

/// Note of a run in the list.
const NOTE: &str = "td[data-column=note] a";

#[tokio::test]
async fn notes_words_and_hidden_runs_outlive_the_server() {
    let lab = Lab::new();
    for run in ["a", "b"] {
        lab.record(run).curve("loss", 0..10, |step| step as f32);
    }
    let server = lab.start();
    server.wait_for_points("b", "loss", 10);
    let browser = Browser::open().await;
    browser.goto(&server, "/?q=a").await;
    browser.wait_for_element(NOTE).await;
    browser
        .run(&format!("document.querySelector('{NOTE}').click()"))
        .await;
    browser
        .fill("textarea[name=note]", "why it <b>fell</b>")
        .await;
    browser.fill("input[name=tags]", "best, baseline").await;
    browser.press(ENTER).await;
    browser
        .wait_for_element(&format!("{NOTE} [data-part=word]"))
        .await;
    // A page that is opened before has an old version to change.
    wait_for_notebook(&server, "baseline");
    browser
        .click(&format!("{PANEL} button[aria-label='Close']"))
        .await;
    browser.goto(&server, "/").await;
    browser
        .click("[role=checkbox][aria-label='Select b']")
        .await;
    let buttons = format!("{SELECTION} button");
    browser.click_text(&buttons, "Hide").await;
    wait_for_names(&browser, &["a"]).await;
    wait_for_notebook(&server, "\"is_hidden\":true");
    browser.close();
    drop(server);

    let server = lab.start();
    server.wait_for_points("b", "loss", 10);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    wait_for_names(&browser, &["a"]).await;
    let words =
        "[...document.querySelectorAll('[data-part=word]')].map(word => word.textContent).join()";
    browser
        .wait_until(&format!("{words} === 'best,baseline'"))
        .await;
    assert_eq!(browser.attribute(NOTE, "title").await, "why it <b>fell</b>");
    // They match the filter, too, and hidden runs come back.
    browser.click_text("main button", "1 hidden").await;
    wait_for_names(&browser, &["a", "bhidden"]).await;
    browser
        .click("[role=checkbox][aria-label='Select b']")
        .await;
    browser.click_text(&buttons, "Unhide").await;
    wait_for_names(&browser, &["a", "b"]).await;
    browser.goto(&server, "/?q=tag:best").await;
    wait_for_names(&browser, &["a"]).await;
    browser.close();
}

#[tokio::test]
async fn the_rail_leads_from_page_to_page() {
    const PAGES: [&str; 9] = [
        "overview",
        "scalars",
        "histograms",
        "images",
        "text",
        "graph",
        "pipeline",
        "tensors",
        "debugger",
    ];
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    browser.goto(&server, "/run/mlp/overflow/debugger").await;
    // Forth and back, so that each page is left for both of its neighbours; its elements are removed.
    for page in PAGES.iter().chain(PAGES.iter().rev().skip(1)) {
        let link = format!("nav a[href='/run/mlp/overflow/{page}']");
        browser.click(&link).await;
        browser
            .wait_for_element(&format!("{link}[aria-current=page]"))
            .await;
        browser
            .wait_for_element("main :is(section, canvas, table)")
            .await;
    }
    browser.run("history.back()").await;
    browser.wait_for_element("section[data-tag]").await;
    browser.click_text("nav a", "Runs").await;
    browser.wait_for_element(RUN_NAME).await;
    browser.close();
}

#[tokio::test]
async fn the_bar_finds_runs_and_tags_pauses_and_helps() {
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    // Panels open and close by their buttons.
    for (button, content) in [
        ("How to record", "[role=tabpanel]"),
        ("Columns", "input[name=columns]"),
    ] {
        browser.click_text("main button", button).await;
        browser.wait_for_element(content).await;
        browser.click_text("main button", button).await;
        browser.wait_for_count(content, 0).await;
    }
    // A run by its name, a tag by the pointer; the escape key closes the panel.
    let field = "input[aria-label='Search pages, runs, tags, nodes']";
    browser.press('/').await;
    browser.fill(field, "no such thing").await;
    browser.wait_for_text("Nothing contains").await;
    browser.fill(field, "bf16").await;
    browser.wait_for_element("#search-hits a").await;
    browser.press(ENTER).await;
    browser
        .wait_until("location.pathname.startsWith('/run/transformer-small/bf16/')")
        .await;
    // Every word counts, in any order; results of this run come first.
    browser.fill(field, "norm grad").await;
    browser.click("#search-hits a").await;
    browser
        .wait_for_element("section[data-tag='train/grad_norm']")
        .await;
    // A page of another run, by both names.
    browser.fill(field, "fp16 debugger").await;
    browser.wait_for_element("#search-hits a").await;
    browser.press(ENTER).await;
    browser
        .wait_until("location.pathname === '/run/transformer-small/fp16/debugger'")
        .await;
    // Another run by its name.
    browser
        .click("summary[aria-label='Switch to another run']")
        .await;
    browser
        .fill("input[aria-label='Find a run']", "frozen")
        .await;
    browser
        .wait_for_element("#switch-runs [aria-selected=true] a[href*=frozen]")
        .await;
    browser.press(ENTER).await;
    browser
        .wait_until("location.pathname === '/run/mlp/frozen/overview'")
        .await;
    browser.press('?').await;
    // The keys of the open page come first.
    browser.wait_for_element("aside[aria-label=Keyboard]").await;
    browser.goto(&server, "/run/mlp/frozen/debugger").await;
    browser.wait_for_text("First cause").await;
    browser.press('?').await;
    let second = "aside[aria-label=Keyboard] section:nth-of-type(2) h3";
    browser.wait_for_element(second).await;
    let heading = browser.text_of(second).await.unwrap_or_default();
    assert!(heading.contains("ebugger"), "{heading}");
    browser.press(ESCAPE).await;
    browser
        .wait_for_count("aside[aria-label=Keyboard]", 0)
        .await;
    browser.press('.').await;
    browser.wait_for_text("Paused").await;
    browser
        .click("button[aria-label='Resume live update (.)']")
        .await;
    browser
        .wait_for_element("button[aria-label='Pause live update (.)']")
        .await;
    browser.close();
}

#[tokio::test]
async fn settings_are_kept_and_can_follow_the_system_again() {
    let lab = Lab::new();
    let (server, browser) = open_samples(&lab).await;
    let theme = "(document.documentElement.dataset.theme ?? 'system')";
    let kept = "(localStorage.getItem('trainscope.theme') ?? 'nothing')";
    browser.click_text("nav button", "Settings").await;
    browser
        .wait_for_element("aside[aria-label=Settings] [data-part=server]")
        .await;
    browser.wait_for_text(env!("CARGO_PKG_VERSION")).await;
    let pressed = "[role=group][aria-label=Theme] button[aria-pressed=true]";
    for (word, value, stored) in [
        ("Dark", "dark", "dark"),
        ("Light", "light", "light"),
        ("As the system", "system", "nothing"),
    ] {
        browser.click_text("aside button", word).await;
        browser
            .wait_until(&format!("{theme} === '{value}' && {kept} === '{stored}'"))
            .await;
        assert_eq!(browser.text_of(pressed).await.as_deref(), Some(word));
    }
    browser.click_text("aside button", "中文").await;
    browser.wait_for_element("aside[aria-label=设置]").await;
    browser.goto(&server, "/").await;
    browser.wait_for_text("训练列表").await;
    browser.click_text("nav button", "设置").await;
    browser.click_text("aside button", "跟随浏览器").await;
    browser.wait_for_element("aside[aria-label=Settings]").await;
    // The other panel takes its place, and the escape key closes it.
    browser.press('?').await;
    browser.wait_for_element("aside[aria-label=Keyboard]").await;
    browser
        .wait_for_count("aside[aria-label=Settings]", 0)
        .await;
    browser.press(ESCAPE).await;
    browser.wait_for_count("aside", 0).await;
    browser.close();
}

#[tokio::test]
async fn runs_are_found_by_what_is_wrong_and_by_what_was_noted() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs/mlp"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser
        .wait_for_element("td a[href='/run/overflow/debugger']")
        .await;
    let rows = async || browser.count(RUN_NAME).await;
    let all = rows().await;
    browser.click("button[title='Runs with errors']").await;
    browser
        .wait_for("runs with errors alone", async || {
            let shown = rows().await;
            (shown > 0 && shown < all).then_some(())
        })
        .await;
    browser.click("button[title='Runs with errors']").await;

    // A note is stored by the server, matches the filter, and survives a reload.
    browser.goto(&server, "/?panel=files:healthy").await;
    browser
        .fill("textarea[name=note]", "what others are compared with")
        .await;
    browser.click("input[name=tags]").await;
    browser
        .wait_for("the note to be kept", async || {
            let book = server.get(trainscope_api::paths::NOTEBOOK).json();
            (book["runs"]["healthy"]["note"] == "what others are compared with").then_some(())
        })
        .await;
    browser.goto(&server, "/?q=note:compared").await;
    browser
        .wait_for("the run alone", async || (rows().await == 1).then_some(()))
        .await;
    browser.show("runs-noted").await;
    browser.close();
}
