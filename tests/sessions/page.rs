//! The bar of a live session on the page: attach, pause, step, continue and stop.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use trainscope_api::sessions::{HoldMode, SessionRankState, SessionState};
use trainscope_collector::AtHit;

use super::training::{Sessions, Setup, Training};
use crate::support::Recording;
use crate::support::browser::Browser;
use crate::support::lab::Lab;
use crate::support::wait::wait_for;

const BUTTON: &str = "[role=region] button";
/// The key in `WebDriver`.
const F8: char = '\u{E038}';

fn in_state(state: &str) -> String {
    format!("[role=region][data-state={state}]")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_training_is_controlled_from_the_page() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.total_steps = Some(1_000_000);
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Running);
    let browser = Browser::open().await;
    // The bar is on every page of the run.
    for page in ["debugger", "tensors", "scalars"] {
        browser.goto(&server, &format!("/run/a/{page}")).await;
        browser.wait_for_element(&in_state("running")).await;
        browser.wait_for_text("of 1,000,000").await;
    }
    browser.click_text(BUTTON, "Pause").await;
    browser.wait_for_element(&in_state("waiting")).await;
    browser.wait_for_text("paused by hand").await;
    browser.wait_for_text("continues automatically in").await;
    let held = server.session_of("a").unwrap();
    assert_eq!(held.state, SessionState::Waiting);
    browser.set("[role=region] input[name=steps]", "3").await;
    browser.click_text(BUTTON, "Step").await;
    browser.wait_for_text("step finished").await;
    assert_eq!(server.session_of("a").unwrap().step, held.step + 3);
    browser.press_with_shift(F8).await;
    let step = held.step + 6;
    let is_there = format!(
        "document.querySelector('[role=region] [role=status]').innerText.replace(/[^0-9]/g, '') === '{step}'"
    );
    browser.wait_until(&is_there).await;
    browser.click_text(BUTTON, "Continue").await;
    browser.wait_for_element(&in_state("running")).await;
    // Stop asks before it stops.
    browser.click_text(BUTTON, "Stop").await;
    browser.wait_for_text("Stop the training?").await;
    assert_ne!(
        server.session_of("a").unwrap().state,
        SessionState::Finished
    );
    browser.click_text(BUTTON, "Stop").await;
    browser.wait_for_element(&in_state("finished")).await;
    browser.wait_for_text("Stopped at step").await;
    training.end();
    browser.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hit_pauses_and_the_page_says_which() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.at_hit = Some(AtHit::Pause);
    setup.nan = Some((0, 20));
    setup.steps = 30;
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Waiting);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/a/debugger").await;
    browser
        .wait_for_text("Waiting before the update of step 20")
        .await;
    browser
        .wait_for_text("a watchpoint was hit · fc.weight.grad")
        .await;
    // The sentence comes with the pause; every page says that a training waits.
    browser
        .wait_for_text("fc.weight.grad: all 6 elements are NaN")
        .await;
    browser
        .wait_until("document.title.startsWith('● waiting')")
        .await;
    browser
        .wait_for_element("[data-part=sessions] a[data-state=waiting]")
        .await;
    browser.wait_for_text("1 waiting").await;
    browser.goto(&server, "/").await;
    browser
        .wait_for_element("tbody [data-status=waiting]")
        .await;
    browser.goto(&server, "/run/a/debugger").await;
    // Values of the memory of the training: the gradient that was hit.
    browser.click("[role=region] [data-part=now]").await;
    browser.wait_for_text("fc.weight.grad").await;
    browser
        .wait_for_count("[data-part=sheet] [data-kind=nan]", 6)
        .await;
    assert!(browser.url().await.contains("step=now"));
    browser
        .goto(&server, "/run/a/tensors?tensor=fc.weight")
        .await;
    browser.click("[data-part=now]").await;
    browser.wait_for_element("[data-part=live]").await;
    browser.goto(&server, "/run/a/debugger").await;
    browser.click_text(BUTTON, "Continue").await;
    browser.wait_for_element(&in_state("finished")).await;
    training.end();
    browser.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn activations_to_keep_are_chosen_on_the_page() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.has_node = true;
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Running);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/a/debugger").await;
    let menu = "[role=region] button[aria-label='Activations to keep']";
    browser.click(menu).await;
    browser
        .wait_for_text("needs their memory in addition")
        .await;
    browser.set("[data-part=keep] input", "fc*, block1.*").await;
    browser.click_text("[data-part=keep] button", "Keep").await;
    browser
        .wait_for_element(&format!("{menu}[aria-pressed=true]"))
        .await;
    assert_eq!(server.session_of("a").unwrap().keep, ["fc*", "block1.*"]);
    browser.click(menu).await;
    browser
        .click_text("[data-part=keep] button", "Keep none")
        .await;
    browser
        .wait_for_element(&format!("{menu}:not([aria-pressed])"))
        .await;
    assert!(server.session_of("a").unwrap().keep.is_empty());
    server.command("a", &json!({"name": "stop"}));
    training.end();
    browser.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watchpoint_pauses_or_not_as_its_sign_says() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.at_hit = Some(AtHit::Pause);
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Running);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/a/debugger").await;
    browser.click_text("aside button", "without hits").await;
    let sign =
        |label: &str| format!("[data-condition=tensor_overflow] button[aria-label='{label}']");
    let pauses = sign("A hit pauses the training");
    let goes_on = sign("A hit does not pause the training");
    browser.wait_for_element(&pauses).await;
    let pause_setting = || {
        let list = server.get("/api/watchpoints?run=a").json();
        let all = list["watchpoints"].as_array().unwrap().clone();
        let mut all = all.into_iter();
        all.find(|watchpoint| watchpoint["condition"] == "tensor_overflow")
            .unwrap()["pause"]
            .clone()
    };
    assert_eq!(pause_setting(), json!(null));
    browser.click(&pauses).await;
    browser.wait_for_element(&goes_on).await;
    assert_eq!(pause_setting(), json!(false));
    browser
        .wait_for_element("aside button[aria-expanded=true]")
        .await;
    // The setting is there when the page is opened again. By its severity it pauses, which needs no setting.
    browser.goto(&server, "/run/a/debugger").await;
    browser.click_text("aside button", "without hits").await;
    browser.click(&goes_on).await;
    wait_for("the setting to be gone", || {
        pause_setting().is_null().then_some(())
    });
    server.command("a", &json!({"name": "stop"}));
    training.end();
    browser.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_of_some_ranks_is_asked_for_first() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    (setup.ranks, setup.last_rank_leaves) = (2, Some(500));
    let training = Training::start(&setup);
    wait_for("a rank to leave", || {
        let session = server.session_of("a")?;
        let mut ranks = session.ranks.iter();
        ranks
            .any(|rank| rank.state == SessionRankState::Ended)
            .then_some(())
    });
    let browser = Browser::open().await;
    browser.goto(&server, "/run/a/debugger").await;
    browser.click_text(BUTTON, "Pause").await;
    browser.wait_for_text("1 of 2 ranks are connected").await;
    assert_eq!(server.session_of("a").unwrap().state, SessionState::Running);
    browser.click_text(BUTTON, "Pause these").await;
    browser.wait_for_element(&in_state("waiting")).await;
    server.command("a", &json!({"name": "stop"}));
    training.end();
    browser.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn ranks_of_unequal_steps_are_held_each_by_itself_after_a_question() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    (setup.ranks, setup.lead) = (2, Some(100_000));
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Running);
    wait_for("the run", || server.run("a"));
    let browser = Browser::open().await;
    browser.goto(&server, "/run/a/debugger").await;
    browser.click_text(BUTTON, "2 ranks").await;
    browser.click_text(BUTTON, "Hold ranks independently").await;
    browser
        .wait_for_text("Each rank will wait at its own next step.")
        .await;
    assert_eq!(server.session_of("a").unwrap().hold, HoldMode::Together);
    browser.click_text(BUTTON, "Hold ranks independently").await;
    wait_for("the mode", || {
        (server.session_of("a")?.hold == HoldMode::Each).then_some(())
    });
    browser.click_text(BUTTON, "2 ranks").await;
    browser
        .wait_for_text("Each is held at its own next step")
        .await;
    browser.click_text(BUTTON, "Pause").await;
    browser
        .wait_for_text("Waiting: 2 of 2 ranks, each at its own step")
        .await;
    server.command("a", &json!({"name": "stop"}));
    training.end();
    browser.close();
}

/// Files that a collector may have written have names with process and number. Only an answer shows that one listens.
#[tokio::test]
async fn attach_is_offered_where_a_collector_may_listen() {
    let lab = Lab::new();
    // Both are written now, by the names of their files by different programs.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for file in [
        "collector/events.out.tfevents.1760000000.host.1.0",
        "tensorboardX/events.out.tfevents.1760000000.host",
    ] {
        let mut file = Recording::begin_file(&lab.base().join(file), now.as_secs_f64());
        for step in 0..50 {
            file.scalar_at("loss", step, now.as_secs_f64(), 1.0);
        }
    }
    let server = lab.start();
    server.wait_for_points("collector", "loss", 50);
    server.wait_for_points("tensorboardX", "loss", 50);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/collector/debugger").await;
    browser.click_text(BUTTON, "Attach").await;
    browser.wait_for_text("It did not answer").await;
    browser.goto(&server, "/run/tensorboardX/debugger").await;
    // The bar comes with the status of the run, which the head of the page shows.
    browser.wait_for_text("live").await;
    assert_eq!(browser.count(BUTTON).await, 0);
    browser.close();
}
