//! Pictures of the graphs next to this one, each with its name above.

use std::sync::Arc;

use super::model::{Beside, use_beside, use_model};
use trainscope_web_kit::components::{GraphCanvas, IconButton, IconName, RunChip, figure_of};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Others() -> impl IntoView {
    use_beside().each_ref().map(pane).collect_view()
}

/// Picture of one graph; empty if its slot is free.
fn pane(beside: &Beside) -> AnyView {
    let beside = *beside;
    let model = use_model();
    let column = model.columns[beside.slot];
    let i18n = use_i18n();
    let figure = Memo::new(move |_| {
        let Some(scene) = beside.scene.get() else {
            return Arc::default();
        };
        Arc::new(figure_of(&scene, &beside.look(), i18n.texts().graph().nodes).0)
    });
    let all = use_beside();
    let together = move |slot: usize| {
        let others = all.iter().filter(|other| other.slot != slot);
        let others = others.map(|other| other.view);
        std::iter::once(model.view)
            .chain(others)
            .collect::<Vec<_>>()
    };
    let on_press = Callback::new(move |(at, is_twice)| beside.press(at, is_twice));
    let name = move || {
        let shown = beside.scene.get().map(|scene| scene.shown.tag.clone());
        let run = column.run.get()?;
        let text = match shown {
            Some(tag) => format!("{run} · {tag}"),
            None => run.clone(),
        };
        Some(view! {
            <RunChip run=run />
            <span class="cut" title=text.clone()>
                {text.clone()}
            </span>
        })
    };
    let label = move || {
        beside.scene.with(|scene| {
            scene.as_ref().map_or_else(String::new, |scene| {
                let boxes = scene.boxes.len() as u64;
                (i18n.texts().graph().drawn)(scene.total_nodes, scene.total_edges, boxes)
            })
        })
    };
    let is_there = Memo::new(move |_| column.run.with(Option::is_some));
    let content = move || {
        is_there.get().then(|| {
            view! {
                <div class="other" data-part="other-graph">
                    <div class="flex head small">
                        {name} <span class="grow"></span>
                        <IconButton
                            icon=IconName::Close
                            label=i18n.label(|t| t.frame().close)
                            size=12
                            on_press=move || model.remove_column(beside.slot)
                        />
                    </div>
                    <div class="picture">
                        <GraphCanvas
                            figure=figure
                            view=beside.view
                            size=beside.size
                            label=Signal::derive(label)
                            together=together(beside.slot)
                            on_press=on_press
                        />
                    </div>
                </div>
            }
        })
    };
    content.into_any()
}
