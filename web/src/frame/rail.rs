//! The navigation rail: pages for all runs and for this one.

use super::FrameState;
use crate::components::{Icon, IconName, RunChip};
use crate::format;
use crate::i18n::{I18n, Texts, use_i18n};
use crate::prelude::*;
use crate::route::{self, Place, RunPage, use_place};
use crate::state::{AppState, use_app_state};

/// The rail at the left edge.
#[component]
pub(super) fn Rail() -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let place = use_place();
    let frame: FrameState = expect_context();
    let run = Memo::new(move |_| {
        let run = place.with(|place| place.run().map(str::to_owned));
        run.filter(|run| state.may_exist(run))
    });
    let runs = Memo::new(move |_| state.runs.with(|list| list.runs.len()));
    let current = move |is: bool| is.then_some("page");
    view! {
        <nav class="rail" aria-label=i18n.text(|t| t.frame.main_navigation)>
            <a class="brand" href=route::runs_href()>
                <Icon name=IconName::Brand size=18 />
                <span>"trainscope"</span>
            </a>
            <div class="group">
                <a
                    class="nav"
                    href=route::runs_href()
                    title=i18n.text(|t| t.frame.runs)
                    aria-current=move || current(place.with(|place| *place == Place::Runs))
                >
                    <Icon name=IconName::Runs />
                    <span>{i18n.text(|t| t.frame.runs)}</span>
                    <span class="count">
                        {move || (runs.get() > 0).then(|| format::count(runs.get() as u64))}
                    </span>
                </a>
            </div>
            {move || {
                run.get()
                    .map(|run| {
                        let href = route::scalars_href(&run, &[], None);
                        let overview = route::overview_href(&run);
                        let name = state.short_name(&run);
                        let (counted, full) = (run.clone(), run.clone());
                        let tags = move || {
                            state
                                .run(&counted)
                                .and_then(|run| run.kinds.get("scalars").copied())
                                .map(format::count)
                        };
                        let told = run.clone();
                        let has_none = move || {
                            state.run(&told).is_some_and(|run| !run.kinds.contains_key("scalars"))
                        };
                        let (judged, run_pages, drawn) = (run.clone(), run.clone(), run.clone());
                        let graph = route::graph_href(&run, None);
                        let has_graph = Memo::new(move |_| {
                            let run = state.run(&drawn);
                            run.is_some_and(|run| run.kinds.contains_key("graphs"))
                        });
                        let fed = run.clone();
                        let pipeline = route::run_href(&run, RunPage::Pipeline);
                        let has_pipeline = Memo::new(move |_| {
                            let kinds = state.run(&fed).map(|run| run.kinds).unwrap_or_default();
                            ["lineage", "profile", "input_queues"].iter().any(|kind| kinds.contains_key(*kind))
                        });
                        let (held, tensors) = (run.clone(), route::run_href(&run, RunPage::Tensors));
                        let tensor_count = Memo::new(move |_| {
                            let kinds = state.run(&held)?.kinds;
                            let of = |kind: &str| kinds.get(kind).copied();
                            of("tensors").max(of("statistics"))
                        });
                        let health = Memo::new(move |_| state.run(&judged)?.health);
                        let debugger = route::run_href(&run, RunPage::Debugger);
                        let is_on = move |page| place.with(|place| place.page() == Some(page));
                        let hits = move || {
                            let counts = health.with(|health| health.as_ref().map(|h| h.counts));
                            let hits = counts.map_or(0, |own| own.error + own.warning + own.info);
                            (hits > 0).then(|| format::count(hits))
                        };
                        let is_bad = move || {
                            health.with(|h| h.as_ref().is_some_and(|h| h.counts.error > 0))
                        };
                        view! {
                            <div class="group">
                                <div class="cap" title=full>
                                    <RunChip run=run />
                                    <span class="cut">{name}</span>
                                </div>
                                <a
                                    class="nav"
                                    href=overview
                                    title=i18n.text(|t| t.overview.title)
                                    aria-current=move || current(is_on(RunPage::Overview))
                                >
                                    <Icon name=IconName::Overview />
                                    <span>{i18n.text(|t| t.overview.title)}</span>
                                </a>
                                <a
                                    class="nav"
                                    href=href
                                    title=i18n.text(|t| t.frame.scalars)
                                    aria-current=move || current(is_on(RunPage::Scalars))
                                    hidden=has_none
                                >
                                    <Icon name=IconName::Scalars />
                                    <span>{i18n.text(|t| t.frame.scalars)}</span>
                                    <span class="count">{tags}</span>
                                </a>
                                {recorded(run_pages.clone(), state, place, i18n)}
                                <a
                                    class="nav"
                                    href=graph
                                    title=i18n.text(|t| t.graph.title)
                                    aria-current=move || current(is_on(RunPage::Graph))
                                    hidden=move || !has_graph.get()
                                >
                                    <Icon name=IconName::Graph />
                                    <span>{i18n.text(|t| t.graph.title)}</span>
                                </a>
                                <a
                                    class="nav"
                                    href=pipeline
                                    title=i18n.text(|t| t.pipeline.title)
                                    aria-current=move || current(is_on(RunPage::Pipeline))
                                    hidden=move || !has_pipeline.get()
                                >
                                    <Icon name=IconName::Pipeline />
                                    <span>{i18n.text(|t| t.pipeline.title)}</span>
                                </a>
                                <a
                                    class="nav"
                                    href=tensors
                                    title=i18n.text(|t| t.tensors.title)
                                    aria-current=move || current(is_on(RunPage::Tensors))
                                    hidden=move || tensor_count.with(Option::is_none)
                                >
                                    <Icon name=IconName::Tensors />
                                    <span>{i18n.text(|t| t.tensors.title)}</span>
                                    <span class="count">
                                        {move || tensor_count.get().map(format::count)}
                                    </span>
                                </a>
                                <a
                                    class="nav"
                                    href=debugger
                                    title=i18n.text(|t| t.debugger.title)
                                    aria-current=move || current(is_on(RunPage::Debugger))
                                    hidden=move || health.with(Option::is_none)
                                >
                                    <Icon name=IconName::Debugger />
                                    <span>{i18n.text(|t| t.debugger.title)}</span>
                                    <span class="count" class:bad=is_bad>{hits}</span>
                                </a>
                            </div>
                        }
                    })
            }}
            <div class="foot">
                <button
                    type="button"
                    class="nav"
                    title=i18n.text(|t| t.frame.help)
                    aria-pressed=move || frame.help.get().to_string()
                    on:click=move |_| frame.help.update(|open| *open = !*open)
                >
                    <Icon name=IconName::Help />
                    <span>{i18n.text(|t| t.frame.help)}</span>
                    <span class="count">
                        <kbd>"?"</kbd>
                    </span>
                </button>
            </div>
        </nav>
    }
}

/// Pages of records: entry, title, icon, kinds.
type Recorded = (
    RunPage,
    fn(&Texts) -> &'static str,
    IconName,
    &'static [&'static str],
);

const RECORDED: [Recorded; 4] = [
    (
        RunPage::Histograms,
        |texts| texts.histograms.title,
        IconName::Histograms,
        &["histograms", "statistics"],
    ),
    (
        RunPage::Images,
        |texts| texts.recorded.titles[0],
        IconName::Images,
        &["images", "audio"],
    ),
    (
        RunPage::Text,
        |texts| texts.recorded.titles[1],
        IconName::Text,
        &["text"],
    ),
    (
        RunPage::PrCurves,
        |texts| texts.recorded.titles[2],
        IconName::Scalars,
        &["pr_curves"],
    ),
];

/// Entries of the pages whose records the run has, each with the number of its tags.
fn recorded(run: String, state: AppState, place: Memo<Place>, i18n: I18n) -> impl IntoView {
    let kinds = Memo::new(move |_| state.run(&run).map(|run| (run.id, run.kinds)));
    let entry = move |(page, title, icon, names): Recorded| {
        let count = move || {
            kinds.with(|run| {
                let (run, kinds) = run.as_ref()?;
                let count = if page == RunPage::Histograms {
                    state.histogram_tensors(run)
                } else {
                    names.iter().filter_map(|name| kinds.get(*name)).sum()
                };
                Some(count).filter(|count| *count > 0)
            })
        };
        let href =
            move || kinds.with(|run| run.as_ref().map(|(run, _)| route::run_href(run, page)));
        view! {
            <a
                class="nav"
                href=href
                title=move || title(i18n.texts())
                aria-current=move || {
                    place.with(|place| place.page() == Some(page)).then_some("page")
                }
                hidden=move || count().is_none()
            >
                <Icon name=icon />
                <span>{move || title(i18n.texts())}</span>
                <span class="count">{move || count().map(format::count)}</span>
            </a>
        }
    };
    RECORDED.map(entry).collect_view()
}
