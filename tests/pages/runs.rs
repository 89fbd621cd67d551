//! The list of runs in a real browser: columns of recorded values, and custom colours; both survive a restart of the
//! server.

use trainscope_api::paths;
use trainscope_format::Text;
use trainscope_format::encode::{Moment, RecordWriter};

use crate::support::lab::{STARTED_SECS, copy_folder, workspace_root};
use crate::support::parts::SELECTION;
use crate::support::server::query;
use crate::support::{Browser, Lab, Recording, Server};

/// Three runs that end with a loss of 3, 1 and NaN; the last has no accuracy.
fn three_runs(lab: &Lab) -> Server {
    for (run, last) in [("a", 3.0), ("b", 1.0), ("c", f32::NAN)] {
        let mut recording = lab.record(run);
        recording.curve(
            "val/loss",
            0..100,
            |step| if step < 99 { 9.0 } else { last },
        );
        if run != "c" {
            recording.curve("val/accuracy", 0..10, |step| step as f32 / 10.0);
        }
    }
    let server = lab.start();
    server.wait_for_points("c", "val/loss", 100);
    server
}

/// Names of the runs from the top, and the text in the first custom column.
async fn rows(browser: &Browser) -> Vec<(String, String)> {
    let script =
        "return [...document.querySelectorAll('tr:not([hidden]):has(> [role=rowheader] a)')]
        .map(row => [row.querySelector('[role=rowheader] a').textContent.trim(),
                     row.querySelector('[data-column=chosen]')?.textContent.trim() ?? '']);";
    serde_json::from_value(browser.run(script).await).unwrap()
}

async fn wait_for_rows(browser: &Browser, wanted: &[(&str, &str)]) {
    browser
        .wait_for(&format!("the rows {wanted:?}"), async || {
            let rows = rows(browser).await;
            let same = rows
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()));
            same.eq(wanted.iter().copied()).then_some(())
        })
        .await;
}

#[tokio::test]
async fn a_column_of_last_values_is_chosen_sorted_and_kept() {
    let lab = Lab::new();
    let server = three_runs(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/?panel=columns").await;
    // The ticked columns are there: a table that is too wide scrolls sideways.
    browser
        .wait_until(
            "(() => { const heads = [...document.querySelectorAll('[role=columnheader]')]; \
             const shown = heads.filter(head => head.offsetParent).map(head => head.innerText.trim()); \
             const holder = document.querySelector('main table')?.parentElement; \
             return ['Status', 'Duration', 'Data', 'Note'].every(name => shown.includes(name)) \
             && holder.scrollWidth > holder.clientWidth; })()",
        )
        .await;
    browser.fill("input[name=columns]", "LOSS").await;
    browser
        .wait_for_count(
            "[data-part=panel] ul:not([aria-label='Shown columns']) > li",
            1,
        )
        .await;
    browser
        .click("[role=checkbox][aria-label='val/loss']")
        .await;
    let head = "th[data-column=chosen] button[title='val/loss']";
    browser.click(head).await;
    wait_for_rows(&browser, &[("c", "NaN"), ("a", "3.000"), ("b", "1.000")]).await;
    browser.click(head).await;
    wait_for_rows(&browser, &[("b", "1.000"), ("a", "3.000"), ("c", "NaN")]).await;
    let url = browser.url().await.replace("%3A", ":");
    assert!(url.contains("sort=col:metric:val"), "{url}");
    browser.show("runs-columns").await;

    // The choice persists for the next visit to another server.
    browser.close();
    drop(server);
    let server = lab.start();
    server.wait_for_points("c", "val/loss", 100);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    browser.wait_for_element(head).await;
    browser.goto(&server, "/?sort=col:metric:val/loss").await;
    wait_for_rows(&browser, &[("b", "1.000"), ("a", "3.000"), ("c", "NaN")]).await;
    // A value recorded while the page is open is displayed.
    lab.record("d").scalar("val/loss", 0, 0.5);
    wait_for_rows(
        &browser,
        &[("d", "0.500"), ("b", "1.000"), ("a", "3.000"), ("c", "NaN")],
    )
    .await;
    browser.close();
}

#[tokio::test]
async fn a_link_with_a_tag_finds_the_runs_that_recorded_it() {
    let lab = Lab::new();
    for run in ["a", "b"] {
        lab.record(run).scalar("loss", 0, 1.0);
    }
    // Neither a loss nor a metric, which are known without the tags.
    lab.record("c").scalar("width", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("c", "width", 1);
    let browser = Browser::open().await;
    browser.goto(&server, "/?q=tag:width").await;
    wait_for_rows(&browser, &[("c", "")]).await;
    browser.close();
}

#[tokio::test]
async fn a_colour_is_chosen_and_the_same_on_every_page() {
    let lab = Lab::new();
    let server = three_runs(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/?panel=files:b").await;
    browser.click("button[aria-label='Colour 13']").await;
    browser
        .wait_for("the notebook", async || {
            let book = server.get(paths::NOTEBOOK).json();
            (book["runs"]["b"]["colour"] == 13).then_some(())
        })
        .await;
    let chip = "[data-colour='13']";
    browser
        .wait_for_element(&format!("[role=rowheader] {chip}"))
        .await;
    browser.goto(&server, "/run/b/scalars").await;
    browser.wait_for_element(chip).await;
    // A second click restores the default.
    browser.goto(&server, "/?panel=files:b").await;
    browser
        .wait_for_element("button[aria-label='Colour 13'][aria-pressed=true]")
        .await;
    browser.click("button[aria-label='Colour 13']").await;
    browser
        .wait_for("nothing to be noted", async || {
            let book = server.get(paths::NOTEBOOK).json();
            book["runs"].as_object()?.is_empty().then_some(())
        })
        .await;
    browser.close();
}

#[tokio::test]
async fn a_run_keeps_its_colour_when_others_come_that_began_before_it() {
    let lab = Lab::new();
    // Alone, all of these would have the same colour.
    for run in ["z", "p"] {
        lab.record(run).curve("loss", 0..10, |step| step as f32);
    }
    let server = lab.start();
    server.wait_for_points("z", "loss", 10);
    let browser = Browser::open().await;
    let looks = async |server: &Server, page: &str| {
        browser.goto(server, page).await;
        let chip = ":is([role=rowheader], ul[aria-label=Runs] > li) [data-colour]";
        browser.wait_for_element(chip).await;
        let script = format!(
            "return Object.fromEntries([...document.querySelectorAll('{chip}')]
              .map(chip => [chip.parentElement.textContent.trim().slice(0, 1), chip.dataset.colour]));"
        );
        browser.run(&script).await
    };
    let before = looks(&server, "/").await;
    assert_ne!(before["z"], before["p"]);
    assert_eq!(looks(&server, "/run/z/scalars?runs=z,p").await, before);
    // An open page would notice the missing server.
    browser.goto_address("about:blank").await;
    drop(server);

    for run in ["d", "n"] {
        let path = lab
            .base()
            .join(run)
            .join("events.out.tfevents.1750000000.host.1.0");
        let mut recording = Recording::begin_file(&path, STARTED_SECS - 1e7);
        recording.scalar_at("loss", 0, STARTED_SECS - 1e7, 1.0);
    }
    let server = lab.start();
    server.wait_for_points("n", "loss", 1);
    for page in ["/", "/run/z/scalars?runs=z,p,d,n"] {
        let now = looks(&server, page).await;
        assert_eq!(
            (&now["z"], &now["p"]),
            (&before["z"], &before["p"]),
            "{now}"
        );
        let all = now.as_object().unwrap().values();
        let different: std::collections::HashSet<_> = all.map(|look| look.as_str()).collect();
        assert_eq!(different.len(), 4, "{now}");
    }
    browser.close();
}

/// Waits for a number of runs in the list.
async fn wait_for_count(browser: &Browser, wanted: usize) {
    browser
        .wait_for(&format!("{wanted} rows"), async || {
            (rows(browser).await.len() == wanted).then_some(())
        })
        .await;
}

#[tokio::test]
async fn rows_are_folded_chosen_hidden_and_found_by_hyper_parameters() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    // All runs of this folder are in view at once.
    browser.goto(&server, "/?q=mlp").await;
    wait_for_count(&browser, 8).await;
    browser.click("button[title=mlp][aria-expanded]").await;
    wait_for_count(&browser, 0).await;
    assert!(browser.url().await.contains("folded=mlp"));
    browser.click("button[title=mlp][aria-expanded]").await;
    wait_for_count(&browser, 8).await;
    browser.click_text("main button", "Grouped by folder").await;
    browser
        .wait_for_count("tr:not([hidden]) button[aria-expanded]", 0)
        .await;
    wait_for_count(&browser, 8).await;

    // Two of them side by side; then hidden, and back.
    for run in ["mlp/healthy", "mlp/overflow"] {
        browser
            .click(&format!("[role=checkbox][aria-label='Select {run}']"))
            .await;
    }
    browser.wait_for_text("2 selected").await;
    let together = browser.attribute(&format!("{SELECTION} a"), "href").await;
    assert!(
        together.contains("healthy") && together.contains("overflow"),
        "{together}"
    );
    browser
        .click_text(&format!("{SELECTION} button"), "Hide")
        .await;
    wait_for_count(&browser, 6).await;
    browser.wait_for_text("2 hidden").await;
    browser.reload().await;
    wait_for_count(&browser, 6).await;
    browser.click_text("main button", "2 hidden").await;
    wait_for_count(&browser, 8).await;

    // A hyper-parameter, a state, a kind of data.
    for (asked, left) in [
        ("mlp status:gone", 0),
        ("mlp file:unreadable", 0),
        ("mlp learning_rate:>1", 0),
        // Two are hidden; showing them applied only to the previous page.
        ("mlp batch_size:32", 6),
        ("mlp kind:graph", 6),
    ] {
        browser
            .goto(&server, &format!("/?{}", query(&[("q", asked)])))
            .await;
        wait_for_count(&browser, left).await;
    }
    browser.close();
}

#[tokio::test]
async fn how_to_record_is_said_for_each_way_to_do_it() {
    let lab = Lab::new();
    let server = three_runs(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/?panel=record").await;
    browser.permit_clipboard();
    let mut seen = Vec::new();
    browser.wait_for_element("[role=tab]").await;
    let tabs = browser.count("[role=tab]").await;
    for tab in 1..=tabs {
        browser
            .click(&format!("[role=tab]:nth-of-type({tab})"))
            .await;
        let code = browser
            .wait_for("another snippet", async || {
                let code = browser.text_of("[role=tabpanel], pre").await?;
                (!code.is_empty() && !seen.contains(&code)).then_some(code)
            })
            .await;
        browser.click("[role=tabpanel] + div button").await;
        browser.wait_for_text("Copied").await;
        let pasted = browser.clipboard().await;
        assert_eq!(pasted.trim(), code.trim());
        assert!(pasted.contains(&*lab.base().to_string_lossy()), "{pasted}");
        seen.push(code);
    }
    assert_eq!(seen.len(), 8);
    assert!(seen[0].contains("trainscope.start("), "{}", seen[0]);
    browser.close();
}

/// Rows in view with the health or icons of another run: runs with even numbers end with NaN and have text; of the
/// others only the loss was checked, without a hit, and they have none. Returns a text if there are no rows at all.
const OF_OTHERS: &str = "
    const rows = [...document.querySelectorAll('tr:not([hidden]):has(> [role=rowheader] a)')];
    const wrong = rows.filter(row => {
        const isEven = Number(row.querySelector('[role=rowheader] a').textContent.trim().slice(1)) % 2 === 0;
        const isBad = !!row.querySelector('[data-severity=error]');
        const isHealthy = /partly checked/.test(row.textContent);
        const hasText = !!row.querySelector('a[aria-label^=Text]');
        return isBad !== isEven || isHealthy === isEven || hasText !== isEven;
    });
    return rows.length ? wrong.map(row => row.textContent) : ['no rows'];";

/// Waits until the first row is that of the given run, and every row in view has the data of its run.
async fn wait_for_own(browser: &Browser, first: &str) {
    browser
        .wait_for(
            &format!("own health in each row from {first} on"),
            async || {
                let script = "return document.querySelector('tr:not([hidden]) > [role=rowheader]:has(a)')?.innerText;";
                let name = browser.run(script).await;
                let wrong = browser.run(OF_OTHERS).await;
                let is_there = name.as_str()?.trim().starts_with(first);
                (is_there && wrong.as_array()?.is_empty()).then_some(())
            },
        )
        .await;
}

#[tokio::test]
async fn a_row_says_the_health_of_its_own_run_however_it_came_there() {
    let lab = Lab::new();
    let mut odd = None;
    for number in 0..80 {
        let mut recording = lab.record(&format!("r{number:02}"));
        recording.curve("loss", 0..9, |step| 2.0 - step as f32 / 10.0);
        if number % 2 == 0 {
            recording.scalar("loss", 9, f32::NAN);
            let mut writer = RecordWriter::new(Vec::new(), STARTED_SECS).unwrap();
            let at = Moment {
                step: 9,
                wall_time_secs: STARTED_SECS,
            };
            let note = Text {
                shape: Vec::new(),
                items: vec!["a note".to_owned()],
            };
            writer.text("notes", at, &note).unwrap();
            recording.bytes(&writer.into_inner());
        } else {
            odd = odd.or(Some(recording));
        }
    }
    let server = lab.start();
    let browser = Browser::open().await;
    // Before the runs are judged.
    browser.goto(&server, "/?sort=name").await;
    wait_for_own(&browser, "r00").await;
    let scroll = async |top: u32| {
        let script =
            format!("document.querySelector(':has(> table[aria-label=Runs])').scrollTop = {top};");
        browser.run(&script).await;
    };
    for top in [900, 1_500, 300, 0] {
        scroll(top).await;
        // The row below the header is the first run.
        let script = format!(
            "(() => {{
                const head = document.querySelector('table[aria-label=Runs] thead').getBoundingClientRect();
                const row = document.elementFromPoint(head.left + 200, head.bottom + 40)?.closest('tr');
                const name = row?.querySelector('[role=rowheader] a')?.textContent.trim() ?? '';
                return Math.abs(Number(name.slice(1) || NaN) - {top} / 32) < 3;
            }})()"
        );
        browser.wait_until(&script).await;
        browser
            .wait_for(&format!("rows of their own at {top}"), async || {
                let wrong = browser.run(OF_OTHERS).await;
                wrong.as_array()?.is_empty().then_some(())
            })
            .await;
    }
    // Rows are reused for other runs.
    browser.click("th[data-column=name] button").await;
    wait_for_own(&browser, "r79").await;
    browser.click("th[data-column=name] button").await;
    wait_for_own(&browser, "r00").await;

    // A failure that appears while the page is open updates the existing row.
    let row = "[...document.querySelectorAll('table[aria-label=Runs] tbody tr')].find(row => row.textContent.includes('r01'))";
    browser
        .wait_until(&format!("/partly checked/.test({row}.textContent)"))
        .await;
    odd.unwrap().scalar("loss", 9, f32::NAN);
    browser
        .wait_until(&format!("{row}.querySelector('[data-severity=error]')"))
        .await;
    browser.close();
}
