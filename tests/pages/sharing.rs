//! A server that changes nothing: its pages show everything, and no controls for changes.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::parts::SELECTION;
use crate::support::{Browser, Lab};

const WATCHPOINT: &str = "li[data-condition]";
const SWITCH: &str = "li[data-condition] [role=switch]";
const RECHECK: &str = "button[aria-label='Check all recorded steps again']";
const SELECT: &str = "[role=checkbox][aria-label='Select overflow']";

#[tokio::test]
async fn pages_of_a_server_that_is_read_only_have_no_controls_for_changes() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs/mlp"), &folder);
    for (flags, may_change) in [(&[][..], true), (&["--read-only"], false)] {
        let server = lab.start_on(&[&folder], flags);
        let browser = Browser::open().await;
        browser.goto(&server, "/run/overflow/debugger").await;
        browser.wait_for_element(WATCHPOINT).await;
        let watchpoints = browser.count(WATCHPOINT).await;
        assert!(watchpoints > 5, "{watchpoints}");
        browser
            .wait_for_count(SWITCH, if may_change { watchpoints } else { 0 })
            .await;
        browser
            .wait_for_count(RECHECK, usize::from(may_change))
            .await;
        browser.goto(&server, "/").await;
        browser.click(SELECT).await;
        let has_hide = format!(
            "([...document.querySelectorAll('{SELECTION} button')]
                .some(button => button.textContent.includes('Hide')) === {may_change})"
        );
        browser.wait_for_element(SELECTION).await;
        browser.wait_until(&has_hide).await;
        browser.close();
    }
}
