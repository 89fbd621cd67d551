//! Toolbar above the picture: graph, path of the selected node, colours, comparison, path between nodes, download.

use std::sync::Arc;

use trainscope_api::graphs::{GraphBox, GraphTag};
use trainscope_charts::graph::{Figure, svg};

use super::model::{COLOURS, use_model};
use trainscope_web_kit::components::download::{download, file_name};
use trainscope_web_kit::components::{IconButton, IconName, SegOption, Segmented, use_graph_ink};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

#[component]
pub(super) fn Toolbar(
    /// Drawn figure, for the download.
    #[prop(into)]
    figure: Signal<Arc<Figure>>,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let ink = use_graph_ink();
    let colour = Memo::new(move |_| {
        let colour = model.colour();
        COLOURS
            .iter()
            .position(|(known, _)| *known == colour)
            .unwrap_or(0)
    });
    // Only colourings that the graph has data for, and the selected one.
    let offered = Memo::new(move |_| {
        let [has_device, has_precision, has_time] = model.scene.with(|scene| {
            let has = |is: fn(&GraphBox) -> bool| scene.boxes.iter().any(is);
            [
                has(|graph_box| !graph_box.device.is_empty()),
                has(|graph_box| graph_box.precision.is_some()),
                has(|graph_box| graph_box.mean_nanos.is_some()),
            ]
        });
        [
            true,
            has_device || colour.get() == 1,
            true,
            has_precision || colour.get() == 3,
            has_time || colour.get() == 4,
        ]
    });
    let options = move || {
        let offered = offered.get();
        let indices = (0..COLOURS.len()).filter(|index| offered[*index]);
        indices
            .map(|index| SegOption {
                value: index,
                label: Signal::derive(move || i18n.texts().graph().colours[index].to_owned()),
            })
            .collect::<Vec<_>>()
    };
    let colours = move || {
        view! {
            <Segmented
                label=i18n.label(|t| t.graph().colour)
                options=options()
                value=colour
                on_choose=move |index: usize| {
                    if let Some((colour, _)) = COLOURS.get(index) {
                        model.set_colour(*colour);
                    }
                }
            />
        }
    };
    let crumbs = move || {
        let path = model.node.get()?;
        let mut parts = Vec::new();
        for (at, _) in path.match_indices('/') {
            let whole = path[..at].to_owned();
            let label = whole.rsplit('/').next().unwrap_or_default().to_owned();
            parts.push(view! {
                <button type="button" class="link" on:click=move |_| model.select(&whole)>
                    {label}
                </button>
                <span class="ink3">" / "</span>
            });
        }
        let last = path.rsplit('/').next().unwrap_or_default().to_owned();
        Some(view! { {parts} <b class="med">{last}</b> })
    };
    let way_label = Signal::derive(move || {
        let texts = i18n.texts().graph();
        let begun = model.from.with(Option::is_some) && model.to.with(Option::is_none);
        if begun { texts.way_to } else { texts.way_from }.to_owned()
    });
    view! {
        <div class="toolbar">
            <GraphChoice />
            <span class="crumbs cut small">{crumbs}</span>
            <span class="grow"></span>
            {colours}
            <Base />
            <IconButton
                icon=IconName::Path
                label=way_label
                pressed=Signal::derive(move || model.from.with(Option::is_some))
                on_press=move || {
                    model.press_way();
                }
            />
            <IconButton
                icon=IconName::Download
                label=i18n.label(|t| t.graph().svg)
                on_press=move || {
                    let text = svg(&figure.get_untracked(), &ink.get_untracked());
                    let name = model.scene.with_untracked(|scene| file_name(&scene.shown.tag));
                    download(&text, "image/svg+xml", &format!("{name}.svg"));
                }
            />
        </div>
    }
}

/// Choice between graphs of the run, if it has several.
#[component]
fn GraphChoice() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let known = Memo::new(move |_| {
        model.scene.with(|scene| {
            let shown = scene.graphs.iter().position(|graph| *graph == scene.shown);
            (scene.graphs.clone(), shown.unwrap_or(0))
        })
    });
    move || {
        let (graphs, shown) = known.get();
        let several = graphs.iter().any(|graph| graph.rank != graphs[0].rank);
        let options = graphs
            .iter()
            .enumerate()
            .map(|(index, graph): (usize, &GraphTag)| {
                let texts = i18n.texts().graph();
                let name = if several {
                    (texts.of_rank)(&graph.tag, graph.rank)
                } else {
                    graph.tag.clone()
                };
                view! {
                    <option value=index.to_string() selected=index == shown>
                        {name}
                    </option>
                }
            });
        let options = options.collect::<Vec<_>>();
        (graphs.len() > 1).then(|| {
            view! {
                <select
                    class="field choice"
                    aria-label=i18n.texts().graph().graph
                    on:change=move |event| {
                        let index = event_target_value(&event).parse::<usize>();
                        if let Some(graph) = index.ok().and_then(|index| graphs.get(index)) {
                            model.choose_graph(&graph.tag, graph.rank);
                        }
                    }
                >
                    {options}
                </select>
            }
        })
    }
}

/// Choice of the graph to compare with: other graphs of this run, and graphs of other runs.
#[component]
fn Base() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let bases = Memo::new(move |_| {
        let run = model.run.get();
        let of_run = model.scene.with(|scene| {
            let others = scene.graphs.iter().filter(|graph| **graph != scene.shown);
            others
                .map(|graph| (run.clone(), graph.tag.clone()))
                .collect::<Vec<_>>()
        });
        let others = state.runs.with(|list| {
            let runs = list.runs.iter();
            let runs = runs.filter(|other| other.id != run && other.kinds.contains_key("graphs"));
            runs.map(|other| (other.id.clone(), String::new()))
                .collect::<Vec<_>>()
        });
        of_run.into_iter().chain(others).collect::<Vec<_>>()
    });
    move || {
        let (mut bases, run) = (bases.get(), model.run.get());
        let chosen = model
            .columns
            .map(|column| (column.run.get(), column.tag.get()));
        let has_room = chosen.iter().any(|(run, _)| run.is_none());
        bases.retain(|(base, tag)| {
            !chosen.iter().any(|(run, shown)| {
                run.as_ref() == Some(base) && shown.as_deref().unwrap_or_default() == tag
            })
        });
        let options = bases.iter().enumerate().map(|(index, (base, tag))| {
            let name = if *base == run { tag } else { base };
            view! { <option value=index.to_string()>{name.clone()}</option> }
        });
        let options = options.collect::<Vec<_>>();
        (has_room && !bases.is_empty()).then(|| {
            view! {
                <select
                    class="field choice"
                    aria-label=i18n.texts().graph().compare
                    on:change=move |event| {
                        let index = event_target_value(&event).parse::<usize>();
                        if let Some((run, tag)) = index.ok().and_then(|index| bases.get(index)) {
                            model.add_column(run, tag);
                        }
                    }
                >
                    <option value="" selected=true>
                        {i18n.texts().graph().compare}
                    </option>
                    {options}
                </select>
            }
        })
    }
}
