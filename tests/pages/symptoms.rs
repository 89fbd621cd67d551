//! The pages of the tutorial from symptom to cause, on the runs that it names.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::{Browser, Lab};

/// Picture, address of the page, and a text on it that names the cause or leads to it.
const PAGES: [(&str, &str, &str); 4] = [
    (
        "symptom-nan",
        "/run/program/log-of-zero/overview",
        "Where it started",
    ),
    (
        "symptom-flat",
        "/run/mlp/vanishing/debugger",
        "Around this tensor",
    ),
    (
        "symptom-slow",
        "/run/torch/eight-ranks/profile?view=cluster",
        "Lost time",
    ),
    (
        "symptom-restart",
        "/compare?runs=mlp/healthy,mlp/restarted",
        "They diverge at step 80",
    ),
];

#[tokio::test]
async fn each_symptom_of_the_tutorial_is_on_its_page() {
    let lab = Lab::new();
    let folder = lab.path("sample-runs");
    copy_folder(&workspace_root().join("sample-runs"), &folder);
    let server = lab.start_on(&[&folder], &[]);
    let browser = Browser::open().await;
    for (picture, address, text) in PAGES {
        browser.goto(&server, address).await;
        browser.wait_for_text(text).await;
        browser.show(picture).await;
    }
    browser.close();
}

#[tokio::test]
async fn the_mark_of_the_first_cause_leaves_its_name_whole() {
    let lab = Lab::new();
    copy_folder(
        &workspace_root().join("sample-runs/mlp/overflow"),
        &lab.base().join("overflow"),
    );
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/overflow/debugger").await;
    browser.wait_for_element("[data-part=first-cause]").await;
    let is_whole = "const mark = document.querySelector('[data-part=first-cause]');
        const name = mark.parentElement.querySelector('button');
        return name.innerText === 'train/learning_rate' && name.scrollWidth <= name.clientWidth
            && mark.getBoundingClientRect().width > 7";
    assert_eq!(browser.run(is_whole).await, true);
    browser.close();
}
