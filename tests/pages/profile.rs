//! The pages of profiles: from the sentence to the slices, and the views of a cluster.

use crate::support::lab::{copy_folder, workspace_root};
use crate::support::wait::wait_for;
use crate::support::{Browser, Lab, Server};

fn serve(lab: &Lab) -> Server {
    let sample = workspace_root().join("sample-runs/torch/eight-ranks");
    copy_folder(&sample, &lab.base().join("ranks"));
    let server = lab.start();
    server.wait_for_records(8);
    server
}

#[tokio::test]
async fn the_sentence_leads_to_the_slices_in_two_clicks() {
    let lab = Lab::new();
    let server = serve(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/ranks/profile").await;
    browser
        .wait_for_text("A step takes 4.34 ms; for 1.08 ms of it (25 %) the GPU waits.")
        .await;
    browser.show("profile").await;
    // The advice frames its slices at the step with the clearest evidence.
    browser.click("[data-advice=pageable_copies] summary").await;
    browser.wait_for_text("pin_memory=True").await;
    browser.click("[data-advice=data_bound] a").await;
    browser.wait_for_text("in view").await;
    assert!(browser.url().await.contains("/run/ranks/timeline?"));
    browser.press('n').await;
    browser.wait_for_text("enumerate(DataLoader)").await;
    // Everything in view: every slice of the session is counted.
    browser.goto(&server, "/run/ranks/timeline").await;
    browser.wait_for_text("4,121 slices").await;
    browser.show("timeline").await;
    browser.close();
}

/// Key of the hit of the loss at a step, once it is there.
fn hit_at(server: &Server, step: i64) -> String {
    let hit = wait_for(&format!("a hit at {step}"), || {
        let found = server.get("/api/findings?run=ranks&search=loss").json();
        let hits = found["hits"].as_array()?.clone();
        hits.into_iter()
            .find(|hit| hit["step"] == step && hit["tensor"] == "loss")
    });
    format!("0:{step}:{}:loss", hit["condition"].as_str().unwrap())
}

#[tokio::test]
async fn a_hit_leads_to_its_step_in_the_timeline_and_that_to_curves_and_hits() {
    let lab = Lab::new();
    let server = serve(&lab);
    let lanes = server.get("/api/timeline/lanes?run=ranks&rank=0").json();
    let steps = lanes["steps"].as_array().unwrap();
    let clock: f64 = lanes["unix_nanos"].as_str().unwrap().parse().unwrap();
    // The curve starts at 1,000.
    let number = |at: usize| steps[at]["number"].as_i64().unwrap() + 1_000;
    let mut run = lab.record("ranks");
    for (at, step) in steps.iter().enumerate() {
        let value = if at == 5 { f32::NAN } else { 1.0 };
        let end = clock + step["end_nanos"].as_f64().unwrap() + 2e4;
        run.scalar_at("loss", number(at), end / 1e9, value);
    }
    server.wait_for_points("ranks", "loss", steps.len() as u64);
    let browser = Browser::open().await;
    let path = format!("/run/ranks/debugger?hit={}", hit_at(&server, number(5)));
    browser.goto(&server, &path).await;
    browser.click("[data-part=timeline]").await;
    let links = "[data-part=step-links]";
    browser.wait_for_element(links).await;
    let begin = steps[5]["begin_nanos"].as_i64().unwrap();
    let url = browser.url().await;
    assert!(url.contains(&format!("area={begin},")), "{url}");
    browser.wait_for_text("step 1,00").await;
    let link = format!("{links} a[href*='at={}']", number(5));
    browser.click(&link).await;
    // The crosshair is at the step, on the only card.
    browser
        .wait_until(&format!(
            "document.querySelector('[data-part=readout]')?.textContent.replace(',', '').includes('{}')",
            number(5)
        ))
        .await;
    browser.goto_address(&url).await;
    browser.click(&format!("{links} a[href*=debugger]")).await;
    browser.wait_for_element("tr[data-severity]").await;
    browser.close();
}

#[tokio::test]
async fn curves_and_a_second_rank_are_beside_the_lanes() {
    let lab = Lab::new();
    let server = serve(&lab);
    let lanes = server.get("/api/timeline/lanes?run=ranks&rank=0").json();
    let clock: f64 = lanes["unix_nanos"].as_str().unwrap().parse().unwrap();
    let mut run = lab.record("ranks");
    for step in 0..100 {
        run.scalar_at("loss", step, clock / 1e9 + 0.001 * step as f64, 2.5);
    }
    server.wait_for_points("ranks", "loss", 100);
    let browser = Browser::open().await;
    // Everything of the first rank is folded, so that the second one is in view.
    let address = "/run/ranks/timeline?panel=closed&folded=g0,g1,c&curves=loss,none";
    browser.goto(&server, address).await;
    let heads = "[data-part=heads]";
    browser
        .wait_until(&format!(
            "document.querySelector('{heads}')?.textContent.includes('loss2.5')"
        ))
        .await;
    browser.wait_for_text("no points").await;
    let before = browser.settled_picture("canvas[role=img]").await;
    browser
        .goto(&server, &format!("{address}&other_rank=5&align=step"))
        .await;
    browser.wait_for_text("rank 5").await;
    browser
        .wait_for_other_picture("canvas[role=img]", before)
        .await;
    browser.show("two-timelines").await;
    browser.click("[data-part=second] button").await;
    browser
        .wait_until("!location.search.includes('other_rank')")
        .await;
    // Arguments are read from the file.
    browser
        .goto(&server, "/run/ranks/timeline?q=args:correlation")
        .await;
    browser.wait_for_text("in view").await;
    browser.close();
}

#[tokio::test]
async fn steps_operators_memory_ranks_and_differences_have_views() {
    let lab = Lab::new();
    let server = serve(&lab);
    let browser = Browser::open().await;
    for (view, text) in [
        ("steps", "40 steps, median 3.63 ms, 35 within"),
        ("operators", "aten::_local_scalar_dense takes the most time"),
        ("memory", "Memory peaks at 2.2 GB"),
        ("cluster", "for rank 5, whose compute takes longer"),
        // The bars are about the steps of the sentence.
        ("cluster", "Since step 18 (21 steps)"),
        ("cluster", "mean of steps 18–38"),
        ("cluster", "and 5, the later one, at step 18"),
        ("compare", "as long as the baseline"),
    ] {
        let path = format!("/run/ranks/profile?view={view}");
        browser.goto(&server, &path).await;
        browser.wait_for_text(text).await;
    }
    // The sentence about a slow rank leads to its first slow step on that rank.
    browser
        .goto(&server, "/run/ranks/profile?view=cluster")
        .await;
    browser.click_text("a", "Open rank 5").await;
    browser.wait_for_text("in view").await;
    let url = browser.url().await;
    assert!(
        ["/timeline?", "rank=5", "from=", "to="]
            .iter()
            .all(|part| url.contains(part)),
        "{url}"
    );
    // Each allocation separately, one column fewer, and the same step on another page.
    let path = "/run/ranks/profile?view=memory&group=allocation";
    browser.goto(&server, path).await;
    browser.wait_for_text("By allocation").await;
    browser
        .wait_for_text("aten::_flash_attention_forward")
        .await;
    let path = "/run/ranks/profile?view=operators&hide=p99,mean";
    browser.goto(&server, path).await;
    browser.wait_for_text("takes the most time").await;
    let heads = browser.text_of("[role=table] [role=row]").await;
    let heads = heads.unwrap_or_default();
    assert!(!heads.is_empty() && !heads.contains("p99"), "{heads:?}");
    browser.goto(&server, "/run/ranks/profile?view=steps").await;
    browser.click("[data-part=step] a[href*=debugger]").await;
    browser.wait_for_text("Debugger").await;
    assert!(browser.url().await.contains("/run/ranks/debugger?steps="));
    browser.close();
}

#[tokio::test]
async fn what_was_not_recorded_is_said_and_the_nearest_profile_is_compared() {
    let lab = Lab::new();
    let sample = workspace_root().join("sample-runs/torch/profiled");
    copy_folder(&sample, &lab.base().join("alone"));
    let server = serve(&lab);
    let browser = Browser::open().await;
    // With three steps, rules that compare steps are not judged: the page has their number, and no tick.
    browser.goto(&server, "/run/alone/profile").await;
    let sentence = "need at least 5 steps, and 3 whole ones were recorded: not judged.";
    browser.wait_for_text(sentence).await;
    assert_eq!(browser.count("[data-standing=passed]").await, 0);
    assert_eq!(browser.count("[data-standing]").await, 1);
    // The overview of a run that only has profiles is about them, and about missing data.
    browser.goto(&server, "/run/alone/overview").await;
    browser.wait_for_text(sentence).await;
    browser.wait_for_text("Nothing else was recorded").await;
    assert_eq!(browser.count("nav[aria-label=Profile]").await, 0);
    // A damaged file comes first.
    let damaged = lab.base().join("alone/events.out.tfevents.1.host.1.0");
    std::fs::write(damaged, [0xa5; 3_000]).unwrap();
    browser.wait_for_text("could not be read in full").await;
    browser.wait_for_text("Guided diagnosis").await;
    browser
        .goto(&server, "/run/alone/profile?view=compare")
        .await;
    browser
        .wait_for_text("with fewer than 5 steps that may be chance")
        .await;
    browser
        .wait_for_element("option[value=ranks]:checked")
        .await;
    let peak = browser
        .text_of("[data-part=peak]")
        .await
        .unwrap_or_default();
    assert!(
        peak.contains("not recorded") && peak.contains("2.2 GB"),
        "{peak}"
    );
    browser
        .goto(&server, "/run/ranks/profile?session=gone")
        .await;
    browser.wait_for_text("The run has no session “gone”").await;
    // Remarks of the reader are above every view.
    let cut = lab.base().join("cut");
    std::fs::create_dir_all(&cut).unwrap();
    let events = r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":9},{"ph":"E","pid":1,"tid":1,"ts":5}]}"#;
    std::fs::write(cut.join("cut.pt.trace.json"), events).unwrap();
    for page in ["profile", "timeline"] {
        browser.goto(&server, &format!("/run/cut/{page}")).await;
        browser
            .wait_for_text("1 ends of slices have no begin")
            .await;
    }
    browser.close();
}

#[tokio::test]
async fn a_memory_snapshot_leads_from_the_list_to_the_lines_that_hold_memory() {
    let lab = Lab::new();
    let fixtures = workspace_root().join("tests/fixtures/profile/snapshots");
    let folder = lab.base().join("job/memory_snapshot/iteration_10");
    std::fs::create_dir_all(&folder).unwrap();
    for rank in 0..2 {
        let name = format!("rank{rank}_memory_snapshot.pickle");
        std::fs::copy(fixtures.join("protocol-5.pickle"), folder.join(name)).unwrap();
    }
    let server = lab.start();
    server.wait_for_records(2);
    let browser = Browser::open().await;
    browser.goto(&server, "/").await;
    // Without steps, the finding is about the whole recording.
    browser.wait_for_text("Device memory is nearly full").await;
    let row = browser
        .text_of("a[data-severity]")
        .await
        .unwrap_or_default();
    assert!(!row.contains("at 0"), "{row}");
    browser.goto(&server, "/run/job/profile").await;
    browser
        .wait_for_text("it peaks at 897 MB, and an allocation failed.")
        .await;
    browser.goto(&server, "/run/job/profile?view=memory").await;
    browser
        .wait_for_text("An allocation of 315 MB failed at 48.5 ms")
        .await;
    let text = browser
        .text_of("[data-part=holders]")
        .await
        .unwrap_or_default();
    for part in ["Line of the program", "train.py(47): step", "302 MB"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let chart = "/run/job/profile?view=memory&group=flame&rank=1";
    browser.goto(&server, chart).await;
    let frame = "[aria-label='Flame chart'] button[title^='/home/me/train.py(47): step · 302 MB']";
    browser.wait_for_element(frame).await;
    browser.show("memory").await;
    // A frame becomes the root: its siblings are gone.
    browser.click(frame).await;
    browser
        .wait_until("document.querySelectorAll(\"[aria-label='Flame chart'] button[title*='data.py']\").length === 0")
        .await;
    browser.close();
}

#[tokio::test]
async fn a_statement_leads_to_its_slices() {
    let lab = Lab::new();
    let server = serve(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/ranks/profile?view=sql").await;
    browser.click_text("main button", "Launch delays").await;
    browser.wait_for_text("20 rows in").await;
    browser.show("profile-sql").await;
    browser.click("[data-part=rows] [role=row] a").await;
    browser.wait_for_text("launched by").await;
    assert!(browser.url().await.contains("/run/ranks/timeline?"));
    let wrong = "/run/ranks/profile?view=sql&sql=SELECT+nme+FROM+slices";
    browser.goto(&server, wrong).await;
    browser.wait_for_text("no such column: nme").await;
    browser.close_despite("/api/profile/sql");
}

#[tokio::test]
async fn the_critical_path_is_drawn_in_the_timeline() {
    let lab = Lab::new();
    let server = serve(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/ranks/profile").await;
    browser
        .click_text("[data-part=path] a", "Show in the timeline")
        .await;
    let switch = "button[aria-label='Critical path of the steps']";
    browser.wait_for_element(switch).await;
    assert_eq!(browser.attribute(switch, "aria-pressed").await, "true");
    assert!(browser.url().await.contains("path=1"));
    let canvas = "main canvas:not([aria-hidden])";
    let with_path = browser.settled_picture(canvas).await;
    browser.show("timeline-path").await;
    browser.click(switch).await;
    browser.wait_for_other_picture(canvas, with_path).await;
    assert!(!browser.url().await.contains("path=1"));
    browser.close();
}

#[tokio::test]
async fn a_profile_without_launches_says_that_it_has_no_critical_path() {
    let lab = Lab::new();
    let sample = workspace_root().join("tests/fixtures/profile/torch-mlp");
    copy_folder(&sample, &lab.base().join("host"));
    let server = lab.start();
    server.wait_for_records(1);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/host/timeline?path=1").await;
    browser
        .wait_for_text("No launches of kernels were recorded: the critical path is unknown.")
        .await;
    browser.close();
}

#[tokio::test]
async fn all_ranks_are_below_one_another() {
    let lab = Lab::new();
    let server = serve(&lab);
    let browser = Browser::open().await;
    browser.goto(&server, "/run/ranks/timeline?folded=g0").await;
    browser
        .click("button[aria-label='Second session or rank below']")
        .await;
    browser
        .set("select[aria-label='Second session or rank below']", "all")
        .await;
    // Heads are there for the lanes in view.
    browser
        .wait_until("document.querySelectorAll('[data-part=second]').length > 1")
        .await;
    assert!(browser.url().await.contains("other_rank=all"));
    let text = browser.text_of("[data-part=second]").await.unwrap();
    assert!(text.contains("rank 1") && !text.contains('·'), "{text}");
    // Hosts of the other ranks are folded.
    let folded = browser
        .run("return document.querySelectorAll('[data-part=heads] [aria-expanded=false]').length")
        .await;
    assert!(folded.as_u64() >= Some(2), "{folded}");
    browser.show("timeline-ranks").await;
    browser.click("[data-part=second] button").await;
    browser.wait_for_count("[data-part=second]", 0).await;
    browser.close();
}

/// A trace of one step of 20 ms in which kernels of 5 µs follow their launches every millisecond.
fn slow_host() -> String {
    let mut events = Vec::new();
    let mut add = |category: &str, name: &str, thread: u32, begin: u32, length: u32, args: &str| {
        events.push(format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{thread},"tid":{thread},"ts":{begin},"dur":{length},"args":{{{args}}}}}"#
        ));
    };
    add("user_annotation", "ProfilerStep#4", 1, 0, 20_000, "");
    for call in 0..20 {
        let begin = call * 1_000;
        let link = format!(r#""correlation":{}"#, call + 1);
        add("cpu_op", "aten::mul", 1, begin, 900, "");
        add(
            "cuda_runtime",
            "cudaLaunchKernel",
            1,
            begin + 800,
            50,
            &link,
        );
        let device = format!(r#""device":0,"stream":7,{link}"#);
        add(
            "kernel",
            "vectorized_elementwise_kernel",
            7,
            begin + 870,
            5,
            &device,
        );
    }
    let head = r#""schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3"}]"#;
    format!(r#"{{{head},"traceEvents":[{}]}}"#, events.join(","))
}

#[tokio::test]
async fn the_list_of_runs_leads_to_the_slices_of_a_sentence_in_three_clicks() {
    let lab = Lab::new();
    let of_mindspore = workspace_root().join("tests/fixtures/profile/ms210-slow-data");
    copy_folder(&of_mindspore, &lab.base().join("mindspore"));
    let one = lab.base().join("one");
    std::fs::create_dir_all(&one).unwrap();
    std::fs::write(one.join("slow.pt.trace.json"), slow_host()).unwrap();
    let server = serve(&lab);
    let browser = Browser::open().await;
    for (run, has_other_records) in [("ranks", false), ("one", false), ("mindspore", true)] {
        browser.goto(&server, "/").await;
        browser.wait_for_count("[data-part=step-parts]", 3).await;
        browser.click_text("[role=row] a", run).await;
        if has_other_records {
            browser.click_text("nav a", "Profile").await;
        }
        browser.click("[data-advice] a").await;
        if run == "mindspore" {
            // The profile of the data set has the waiting, the timeline has none.
            browser
                .wait_until("location.pathname === '/run/mindspore/pipeline'")
                .await;
            browser.wait_for_text("Data pipeline").await;
            continue;
        }
        let status = "[role=search] [role=status]";
        let found = browser
            .wait_for("the number of slices", async || {
                let text = browser.text_of(status).await?;
                text.starts_with(|letter: char| letter.is_ascii_digit())
                    .then_some(text)
            })
            .await;
        let url = browser.url().await;
        assert!(url.contains(&format!("/run/{run}/timeline?")), "{url}");
        let first = found.split(' ').next().and_then(|word| word.parse().ok());
        assert!(first > Some(0_u32), "{run}: {found}");
    }
    browser.close();
}
