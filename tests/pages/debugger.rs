//! The debugger and the list of runs in a real browser: from a run to the cause in two clicks.

use trainscope_api::findings::{Findings, FirstCause};
use trainscope_api::runs::Run;
use trainscope_api::{Sentence, paths};

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::parts::{HIT, HITS, INSPECTOR, SELECTED_HIT};
use crate::support::server::query;
use crate::support::terminal::Dump;
use crate::support::{Browser, Lab, Server, wait_for};

const BUTTON_OF_HIT: &str = "tr[data-severity] button";
/// Name of the tensor in the inspector.
const TENSOR: &str = "[aria-label='Tensor of the hit'] h2";
const FIGURES: &str = "[aria-label='Tensor of the hit'] table";
const CLASSES: &str = "[aria-label='Tensor of the hit'] [data-part=classes]";
const FIRST_CAUSE: &str = "tr[aria-selected=true] [data-part=first-cause]";
const AROUND: &str = "section[aria-label='Around this tensor']";
/// Choice between the graph and the tensors around one.
const VIEWS: &str = "[aria-label='Around this tensor'] [role=group] button";
const SEARCH: &str = "input[aria-label='Tensor or watchpoint']";
const SAVE: &str = "form button[type=submit]";
const WATCHPOINT: &str = "li[data-condition]";
/// A refusal, or a question before a change.
const MESSAGE: &str = "[data-part=message]";
const EDIT: &str = "button[aria-label='Edit the watchpoint']";

/// A server over copies of the sample runs, where pages may write notes.
fn samples(lab: &Lab) -> Server {
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs/mlp"), &folder);
    lab.start_on(&[&folder], &[])
}

#[tokio::test]
async fn from_the_list_to_the_cause() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    // The health of the run links to its debugger, which selects the first cause.
    browser.click("td a[href='/run/overflow/debugger']").await;
    browser.wait_for_text("First cause").await;
    browser.wait_for_element(SELECTED_HIT).await;
    // Only the lines in view are in the DOM; the table has the total.
    let listed = async || {
        let rows = browser.attribute(HITS, "aria-rowcount").await;
        rows.parse::<usize>().unwrap()
    };
    let all = listed().await;
    assert!(all > 10, "{all}");

    // Filter by one watchpoint, in the address too; back removes the filter.
    browser.click("button[data-state=found]").await;
    browser
        .wait_for("fewer hits", async || (listed().await < all).then_some(()))
        .await;
    assert!(browser.url().await.contains("watchpoint="));
    browser.run("history.back()").await;
    browser
        .wait_for("all hits", async || (listed().await == all).then_some(()))
        .await;

    // From hit to hit by keyboard, to a tensor and its elements.
    browser.fill(SEARCH, "fc1.weight").await;
    browser
        .wait_for("the tensors of that name", async || {
            let lines = listed().await;
            (lines > 1 && lines < all).then_some(())
        })
        .await;
    browser.click(BUTTON_OF_HIT).await;
    browser
        .wait_for_element("[data-part=classes] [data-kind=nan]:not([hidden])")
        .await;
    browser.wait_for_element(FIGURES).await;
    assert!(browser.url().await.contains("hit="));
    browser.show("debugger").await;
    browser.close();
}

fn first_cause(server: &Server, run: &str) -> FirstCause {
    let answer = server.get(&format!("{}?{}", paths::FINDINGS, query(&[("run", run)])));
    let findings: Findings = serde_json::from_slice(&answer.body).unwrap();
    findings.first_cause.unwrap()
}

/// From the list to the debugger, from there to the first cause, for each run with a warning or an error.
async fn two_clicks_lead_to_each_cause(server: &Server, least_runs: usize) {
    let runs = wait_for("every run to be judged", || {
        let runs = server.runs().runs;
        let is_judged = server.status().ingest.idle && runs.iter().all(|run| run.health.is_some());
        (is_judged && runs.len() >= least_runs).then_some(runs)
    });
    let is_faulty = |run: &&Run| {
        let counts = run.health.as_ref().unwrap().counts;
        counts.error + counts.warning > 0
    };
    let faulty: Vec<&Run> = runs.iter().filter(is_faulty).collect();
    assert!(faulty.len() * 3 > least_runs, "{}", faulty.len());
    let browser = Browser::open().await;
    for run in faulty {
        let id = &run.id;
        // Only the rows in view of a long list are in the DOM.
        browser.goto(server, &format!("/?q={id}")).await;
        browser
            .click(&format!("td a[href='/run/{id}/debugger']"))
            .await;
        let button = "[data-part=cause] button";
        browser.wait_for_element(button).await;
        let cause = browser.text_of(button).await.unwrap();
        browser.click(button).await;
        // The hit, its finding, and the advice.
        browser
            .wait_for(&format!("the first cause of {id}"), async || {
                let shown = browser.text_of(TENSOR).await?;
                let end = cause.trim_start_matches("…/");
                shown.contains(end).then_some(())
            })
            .await;
        browser.wait_for_element(FIRST_CAUSE).await;
        // A tensor has its elements, a scalar its curve, a fact its line; hyper-parameters and profiles have neither.
        let found = first_cause(server, id);
        let is_about_settings =
            found.hit.condition == "settings" || run.kinds.contains_key("traces");
        let values = format!("{CLASSES}, {INSPECTOR} a[href*=scalars], [data-part=excerpt]");
        browser
            .wait_for(&format!("what is known of {cause} in {id}"), async || {
                (is_about_settings || browser.count(&values).await > 0).then_some(())
            })
            .await;
        // The finding and the advice; long names are cut in sentences.
        let name = found.hit.tensor.to_lowercase();
        browser
            .wait_for(&format!("the words about {cause} in {id}"), async || {
                let panel = browser.text_of(INSPECTOR).await?.to_lowercase();
                let words = [&found.sentence, &found.advice];
                let is_said = |words: &&Sentence| {
                    let words = words.en.to_lowercase();
                    let mut parts = words.split(&name);
                    !words.is_empty() && parts.all(|part| panel.contains(part))
                };
                words.iter().all(is_said).then_some(())
            })
            .await;
        assert!(!is_about_settings || browser.count(&values).await == 0);
    }
    browser.close();
}

#[tokio::test]
async fn each_faulty_run_leads_to_its_cause_in_two_clicks() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    two_clicks_lead_to_each_cause(&server, 16).await;
}

#[tokio::test]
async fn what_other_programs_have_dumped_leads_to_its_cause_in_two_clicks() {
    let lab = Lab::new();
    for name in [
        "ms20-overflow",
        "ms20-vanishing",
        "ms210-overflow",
        "ms210-vanishing",
        "torch-deadrelu",
        "torch-npy",
        "torch-overflow",
        "torch-unchanged",
        "torch-vanishing",
    ] {
        copy_folder(&Dump::unpack(name).path, &lab.base().join(name));
    }
    for name in ["ms20-summary/overflow", "ms210-summary/overflow"] {
        lab.copy_fixture(name, name);
    }
    let server = lab.start();
    two_clicks_lead_to_each_cause(&server, 11).await;
}

#[tokio::test]
async fn a_hit_whose_dump_was_deleted_says_so_and_what_is_left() {
    let lab = Lab::new();
    copy_folder(&Dump::unpack("torch-npy").path, &lab.base().join("run"));
    let server = lab.start();
    let browser = Browser::open().await;
    // The first cause is the learning rate, a scalar; this tensor is the first one with non-finite values.
    browser
        .goto(&server, "/run/run/debugger?q=activation/6")
        .await;
    browser.click(BUTTON_OF_HIT).await;
    // Elements and their distribution, from the file of the step.
    browser.wait_for_element(CLASSES).await;
    // The previous step is a dashed line; the table is scrolled to the first NaN.
    browser
        .wait_for_element("[data-part=bins] [data-part=before]")
        .await;
    browser
        .wait_for_element("[data-part=sheet] [aria-current]:is([data-kind=nan], [data-kind$=inf])")
        .await;
    let named = browser.text_of(TENSOR).await.unwrap();
    assert_eq!(named, "activation/6");
    let steps = lab.base().join("run/steps");
    let kept = lab.path("kept");
    std::fs::rename(steps.join("1/activation.6.npy"), &kept).unwrap();
    browser.wait_for_text("This hit no longer exists").await;
    assert_eq!(browser.text_of(TENSOR).await.unwrap(), named);
    // Its chart is removed, too.
    let charts = "[data-part=bins], [data-part=sheet], [data-part=classes]";
    browser.wait_for_count(charts, 0).await;
    browser.wait_for_element(HIT).await;
    // The page of its values lists the remaining steps.
    browser.click(&format!("{INSPECTOR} a")).await;
    browser.wait_for_text("the nearest are at 0 and 2").await;
    assert!(browser.url().await.contains("/tensors?"));
    // The file is back, and the link to the hit works again.
    browser.run("history.back()").await;
    browser.wait_for_text("This hit no longer exists").await;
    std::fs::rename(kept, steps.join("1/activation.6.npy")).unwrap();
    browser.wait_for_element(CLASSES).await;
    // Without any file the run is gone, which the page reports.
    std::fs::remove_dir_all(lab.base().join("run")).unwrap();
    browser
        .wait_for_element(":is(main, [role=status]) a[href='/']")
        .await;
    // The failed requests are in the console.
    browser.close_despite("/api/");
}

#[tokio::test]
async fn watchpoints_are_added_edited_and_switched_off() {
    let lab = Lab::new();
    let server = samples(&lab);
    let file = lab.path("sample-runs/.trainscope/watchpoints.toml");
    let text = || std::fs::read_to_string(&file).unwrap_or_default();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/overflow/debugger").await;
    browser.wait_for_text("First cause").await;
    let wait_for_file = async |what: &str| {
        browser
            .wait_for(what, async || text().contains(what).then_some(()))
            .await;
    };

    // From the catalogue, as a sentence whose blank is empty, then wrong.
    browser.click("button[title='Add a watchpoint']").await;
    let focused = "document.activeElement.getAttribute('aria-label') === 'Find a condition'";
    browser.wait_until(focused).await;
    browser
        .fill("input[aria-label='Find a condition']", "tensor_too_large")
        .await;
    browser
        .click("button[data-condition=tensor_too_large]")
        .await;
    browser.fill("form input[name=name]", "mine").await;
    let limit = "form input[name=max_gt]";
    browser.click(SAVE).await;
    browser.wait_for_text("enter a limit").await;
    browser.set("select[name=quantity]", "maximum").await;
    browser.fill(limit, "much").await;
    let sentence = "form [role=group]";
    let said = browser.text_of(sentence).await.unwrap();
    assert!(
        said.contains("Alert when") && said.contains("is above"),
        "{said}"
    );
    browser.click(SAVE).await;
    browser
        .wait_for_element(&format!("{sentence} [role=alert]"))
        .await;
    let said = browser.text_of(sentence).await.unwrap();
    assert!(said.contains("must be a number"), "{said}");
    browser.fill(limit, "1e-9").await;
    browser.click(SAVE).await;
    wait_for_file("name = \"mine\"").await;
    browser.wait_for_text("Shared by this folder").await;
    let mine = "li[data-condition=tensor_too_large]";
    let found = format!("{mine} button[data-state=found]");
    browser.wait_for_element(&found).await;
    browser.show("debugger-own").await;

    // Another limit, and off.
    browser.click(&format!("{mine} {EDIT}")).await;
    browser.fill(limit, "1000000").await;
    browser.click(SAVE).await;
    wait_for_file("1000000").await;
    browser
        .wait_for_element(&format!(
            "{mine} button[aria-pressed]:not([data-state=found])"
        ))
        .await;
    let switch = format!("{mine} [role=switch]");
    browser.click(&switch).await;
    wait_for_file("on = false").await;
    browser
        .wait_for_element(&format!("{switch}[aria-checked=false]"))
        .await;

    // Another client edits the file while this page has a form open: the page reports the conflict and shows the newer
    // version.
    browser.click(&format!("{mine} {EDIT}")).await;
    browser.fill("form input[name=name]", "ours").await;
    lab.replace(&file, &text().replace("\"mine\"", "\"2nd page\""));
    browser.click(SAVE).await;
    browser
        .wait_for_text("Someone else changed the watchpoints")
        .await;
    assert!(!text().contains("ours"));
    // The typed text is still there, and discarded on cancel.
    let typed = "return document.querySelector('form input[name=name]').value";
    assert_eq!(browser.run(typed).await, "ours");
    browser.click("button[aria-label=Cancel]").await;
    browser.wait_for_text("2nd page").await;

    // An invalid file is reported, and the previous watchpoints stay in force.
    lab.replace(&file, "[[watchpoint]\n");
    browser.wait_for_text("watchpoints.toml is invalid").await;
    browser.wait_for_text("2nd page").await;
    std::fs::remove_file(&file).unwrap();
    browser.wait_for_text("Recommended watchpoints").await;

    // Judged again from the first record.
    browser
        .click("button[title='Check all recorded steps again']")
        .await;
    browser.wait_for_text("First cause").await;
    // The refused change is in the console.
    browser.close_despite("/api/watchpoints");
}

#[tokio::test]
async fn watchpoints_of_one_condition_are_told_apart_and_replaced_only_where_it_is_meant() {
    let lab = Lab::new();
    let server = samples(&lab);
    let file = lab.path("sample-runs/.trainscope/watchpoints.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = || std::fs::read_to_string(&file).unwrap();
    let limit = |limit: &str, severity: &str| {
        format!(
            "[[watchpoint]]\ncondition = \"tensor_too_large\"\nmax_gt = {limit}\nseverity = \"{severity}\"\n\n"
        )
    };
    let written = limit("0.05", "warning") + &limit("0.5", "error");
    std::fs::write(&file, &written).unwrap();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/healthy/debugger").await;
    browser.wait_for_text("Shared by this folder").await;
    browser.wait_for_element(SELECTED_HIT).await;
    // From hit to hit, each once; one of them is the first cause.
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..6 {
        let before = browser.url().await;
        browser.press('j').await;
        let now = browser
            .wait_for("the next hit", async || {
                let now = browser.url().await;
                (now != before).then_some(now)
            })
            .await;
        assert!(seen.insert(now), "{seen:?}");
        browser.wait_for_count(SELECTED_HIT, 1).await;
    }
    assert!(browser.count("[data-part=first-cause]").await <= 1);

    // The hits of the second watchpoint; after its removal those of another one do not take their place.
    let second = format!("{WATCHPOINT}:nth-of-type(2)");
    browser.click(&format!("{second} button")).await;
    browser
        .wait_until("location.search.includes('watchpoint=tensor_too_large~2')")
        .await;
    browser.click(&format!("{second} {EDIT}")).await;
    browser.click_text("form button", "Remove").await;
    browser.wait_for_count("li[data-condition]", 1).await;
    let is_gone = "!location.search.includes('watchpoint=')";
    browser.wait_until(is_gone).await;
    wait_for("the removal in the file", || {
        (!text().contains("0.5")).then_some(())
    });
    std::fs::write(&file, &written).unwrap();
    browser.wait_for_count("li[data-condition]", 2).await;
    // The recommended set for this run alone: after a confirmation, and the list of all runs is unchanged.
    browser.click("input[name=only_run]").await;
    let wand = "button[title='Use the recommended set']";
    browser.click(wand).await;
    browser
        .wait_for_text("Replace the watchpoints of this run only")
        .await;
    let answer = "[data-part=message] button";
    browser.click_text(answer, "Cancel").await;
    browser.wait_for_count(MESSAGE, 0).await;
    assert_eq!(text(), written);
    browser.click(wand).await;
    browser.click_text(answer, "Use the recommended set").await;
    browser.wait_for_text("This run only").await;
    assert!(text().starts_with(&written) && text().contains("[[run]]"));
    browser
        .wait_until("document.querySelectorAll('li[data-condition]').length > 20")
        .await;

    // The reason of a refused change disappears once it is resolved.
    let good = text();
    std::fs::write(&file, "[[watchpoint]\n").unwrap();
    browser.wait_for_text("watchpoints.toml is invalid").await;
    browser.click("[role=switch]").await;
    browser.wait_for_text("cannot be written").await;
    std::fs::write(&file, good).unwrap();
    browser.wait_for_count(MESSAGE, 0).await;
    browser.close_despite("/api/watchpoints");
}

#[tokio::test]
async fn the_first_cause_is_in_view_with_its_rank_and_its_whole_name() {
    let lab = Lab::new();
    copy_folder(
        &Dump::unpack("torch-overflow").path,
        &lab.base().join("torch"),
    );
    copy_folder(
        &Dump::unpack("ms210-overflow").path,
        &lab.base().join("long"),
    );
    let diverging = workspace_root().join("sample-runs/mlp/diverging");
    copy_folder(&diverging, &lab.base().join("diverging"));
    let server = lab.start();
    let browser = Browser::open().await;
    let is_in_view = |panel: &str, tensor: &str| {
        format!(
            "(() => {{
                const of = (selector) => document.querySelector(selector)?.getBoundingClientRect();
                const [row, list] = [of('{SELECTED_HIT}'), of(':has(> {HITS})')];
                const name = document.querySelector(\"{TENSOR}\")?.textContent.trim();
                return of(\"{panel}\") && name == '{tensor}' && row
                    && row.top >= list.top && row.bottom <= list.bottom;
            }})()"
        )
    };
    browser.goto(&server, "/run/torch/debugger").await;
    browser.wait_until(&is_in_view(FIRST_CAUSE, "lr")).await;
    // Neighbours of a tensor, with a remark that no graph was recorded.
    browser
        .goto(
            &server,
            "/run/torch/debugger?hit=0:1:tensor_overflow:activation/6",
        )
        .await;
    browser
        .wait_until(&is_in_view(AROUND, "activation/6"))
        .await;
    browser
        .wait_for_element(&format!(
            "{AROUND} [data-severity=none][title='activation/5']"
        ))
        .await;
    browser.wait_for_text("no graph connects them").await;

    // One of two ranks has hits: the page names the rank.
    browser.goto(&server, "/run/diverging/debugger").await;
    browser.wait_for_text("step 60, rank 1").await;
    browser.wait_for_element("select[name=rank]").await;
    browser.wait_for_text("rank 1 · f32").await;
    // Values of the next tensor were dumped at other steps: the page links to them.
    browser.press('j').await;
    browser
        .wait_for_element("[data-part=nearest-steps] a[href*='step=100']")
        .await;
    browser.set("input[name=steps]", "abc").await;
    browser
        .wait_for_element("input[name=steps][aria-invalid=true]")
        .await;

    // Long names: the panel keeps its width, and rows show the end.
    browser.goto(&server, "/run/long/debugger").await;
    browser.wait_for_element(&format!("{TENSOR} + p")).await;
    browser
        .wait_until(&format!(
            "(() => {{
                const panel = document.querySelector(\"{INSPECTOR}\");
                const button = document.querySelector('{BUTTON_OF_HIT}');
                const [whole, name] = [button, button.querySelector('bdi')]
                    .map((one) => one.getBoundingClientRect());
                return panel.scrollWidth <= panel.clientWidth
                    && name.left < whole.left && name.right <= whole.right + 1;
            }})()"
        ))
        .await;
    browser.close();
}

#[tokio::test]
async fn tensors_over_steps_and_around() {
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser
        .goto(&server, "/run/vanishing/debugger?q=fc2.weight")
        .await;
    browser.click(BUTTON_OF_HIT).await;
    browser.wait_for_element("[data-part=over-steps]").await;
    browser
        .wait_for_element(&format!("{AROUND} [aria-current=true]"))
        .await;
    let last = format!("{FIGURES} th:last-child");
    let step = async || browser.text_of(&last).await;
    let now = step().await;
    browser.press('\u{e014}').await;
    browser
        .wait_for("the next step", async || {
            (step().await != now).then_some(())
        })
        .await;
    assert!(browser.url().await.contains("step="));
    let name = browser.text_of(TENSOR).await.unwrap();
    // Switching between the columns and the graph.
    browser.click_text(VIEWS, "Tensors").await;
    browser
        .click(&format!("{AROUND} [aria-current=false]"))
        .await;
    browser
        .wait_for("another tensor", async || {
            (browser.text_of(TENSOR).await? != name).then_some(())
        })
        .await;
    assert!(browser.url().await.contains("tensor="));
    browser
        .click_text(&format!("{INSPECTOR} button"), "Back to the hit")
        .await;
    browser
        .wait_for("the tensor of the hit", async || {
            (browser.text_of(TENSOR).await? == name).then_some(())
        })
        .await;
    browser.close();
}

#[tokio::test]
async fn the_graph_around_a_hit_leads_to_other_tensors() {
    const CANVAS: &str = "[aria-label='Around this tensor'] canvas[role=img]";
    const OF_NODE: &str = "[aria-label='Around this tensor'] [role=status]";
    let lab = Lab::new();
    let server = samples(&lab);
    let browser = Browser::open().await;
    browser
        .goto(&server, "/run/vanishing/debugger?q=fc4.weight.grad")
        .await;
    browser.click(BUTTON_OF_HIT).await;
    browser.wait_for_element(CANVAS).await;
    let name = browser.text_of(TENSOR).await.unwrap();
    browser.settled_picture(CANVAS).await;
    // The node of the tensor is in the middle: clicked, it lists the other tensors of the node.
    browser.click(CANVAS).await;
    browser.wait_for_element(&format!("{OF_NODE} button")).await;
    browser
        .wait_for_element(&format!("{OF_NODE} a[href*='/run/vanishing/graph?node=']"))
        .await;
    browser
        .run(&format!(
            "const own = document.querySelector(\"{TENSOR}\").textContent;
              const all = [...document.querySelectorAll(\"{OF_NODE} button\")];
              all.find(one => !own.trim().endsWith(one.title)).click();"
        ))
        .await;
    browser
        .wait_for("another tensor", async || {
            (browser.text_of(TENSOR).await? != name).then_some(())
        })
        .await;
    assert!(browser.url().await.contains("tensor="));
    // It can be dragged like any graph.
    let before = browser.settled_picture(CANVAS).await;
    browser.drag_over(CANVAS, 0.5, 0.2).await;
    browser.wait_for_other_picture(CANVAS, before).await;
    browser.click_text(VIEWS, "Tensors").await;
    browser.wait_for_text("weight.grad").await;
    assert!(browser.url().await.contains("around=tensors"));
    browser.close();
}

#[tokio::test]
async fn hits_come_while_the_training_runs_and_a_link_to_one_that_is_gone_says_so() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("train/loss", 0..30, |step| 1.0 / (1.0 + step as f32));
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/run/debugger").await;
    browser.wait_for_text("No problems found in").await;
    recording.scalar("train/loss", 30, f32::NAN);
    browser.wait_for_text("First cause").await;
    browser.wait_for_element(HIT).await;

    let gone = "/run/run/debugger?hit=0:7:tensor_overflow:no.such:0";
    browser.goto(&server, gone).await;
    browser.wait_for_text("This hit no longer exists").await;
    browser.click(BUTTON_OF_HIT).await;
    browser.wait_for_text("Show in Scalars").await;
    browser.close();
}
