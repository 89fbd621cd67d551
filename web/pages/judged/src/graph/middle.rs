//! Canvas with its overlays: zoom, legend, the requested path.

use std::sync::Arc;

use trainscope_charts::graph::Figure;

use super::legend::Legend;
use super::model::{use_beside, use_model};
use super::pane::Others;
use super::press::{ClickTarget, pressed};
use super::shape::short;
use super::toolbar::Toolbar;
use trainscope_web_kit::components::{GraphCanvas, IconButton, IconName, RunChip};
use trainscope_web_kit::i18n::{GraphTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// Toolbar and picture.
#[component]
pub(super) fn Middle(
    figure: Signal<Arc<Figure>>,
    /// Kinds of nodes that have a colour.
    kinds: Signal<Vec<String>>,
) -> impl IntoView {
    let model = use_model();
    let beside = use_beside();
    let i18n = use_i18n();
    let on_press = Callback::new(move |(at, is_twice): ((f64, f64), bool)| {
        let scene = model.scene.get_untracked();
        match pressed(&scene, at, is_twice) {
            ClickTarget::Nothing => {}
            ClickTarget::Ground => model.deselect(),
            ClickTarget::Node(path) => model.choose(&path),
            ClickTarget::Scope(path) => model.toggle(&path),
        }
    });
    let label = move || {
        model.scene.with(|scene| {
            let boxes = scene.boxes.len() as u64;
            (i18n.texts().graph().drawn)(scene.total_nodes, scene.total_edges, boxes)
        })
    };
    let way = move || {
        let texts = i18n.texts().graph();
        let from = model.from.get()?;
        let text = match model.to.get() {
            None => (texts.way_begun)(short(&from)),
            Some(to) => match model.scene.with(|scene| scene.way.len() as u64) {
                0 => (texts.no_way)(short(&from), short(&to)),
                count => (texts.way)(short(&from), short(&to), count),
            },
        };
        let title = match model.to.get() {
            None => from,
            Some(to) => format!("{from} → {to}"),
        };
        Some(view! {
            <div class="way" role="status" title=title>
                <span class="cut">{text}</span>
                <IconButton
                    icon=IconName::Close
                    label=i18n.label(|t| t.frame().close)
                    size=12
                    on_press=move || model.set_way(None, None)
                />
            </div>
        })
    };
    let odd = move || {
        let notes = model.scene.with(|scene| {
            let notes = scene.notes.iter().map(|note| i18n.words(note));
            notes.collect::<Vec<String>>()
        });
        let text = notes.join("; ");
        let title = text.clone();
        (!notes.is_empty()).then(|| {
            view! {
                <p class="odd micro" role="note" title=title>
                    <b class="med">{i18n.texts().graph().odd}</b>
                    " "
                    {text}
                </p>
            }
        })
    };
    let empty = move || {
        model.scene.with(|scene| scene.total_nodes == 0).then(|| {
            let texts = i18n.texts().graph();
            view! {
                <div class="nothing">
                    <b class="med">{texts.empty}</b>
                    <span class="ink2">{texts.empty_next}</span>
                </div>
            }
        })
    };
    // Next to other graphs, its name is shown above, like theirs.
    let own_head = move || {
        let has_others = model
            .columns
            .iter()
            .any(|column| column.run.with(Option::is_some));
        has_others.then(|| {
            let run = model.run.get();
            let tag = model.scene.with(|scene| scene.shown.tag.clone());
            let text = format!("{run} · {tag}");
            view! {
                <div class="flex head small">
                    <RunChip run=run />
                    <span class="cut" title=text.clone()>
                        {text.clone()}
                    </span>
                </div>
            }
        })
    };
    let button = move |icon: IconName, label: fn(&GraphTexts) -> &'static str| {
        view! {
            <IconButton
                icon=icon
                label=Signal::derive(move || label(i18n.texts().graph()).to_owned())
                on_press=move || match icon {
                    IconName::Plus => model.zoom(1.3),
                    IconName::Minus => model.zoom(1.0 / 1.3),
                    _ => model.fit(),
                }
            />
        }
    };
    view! {
        <section class="mid">
            <Toolbar figure=figure />
            {odd}
            <div class="panes">
            <div class="picture">
                {own_head}
                <GraphCanvas
                    figure=figure
                    view=model.view
                    size=model.size
                    together=beside.iter().map(|other| other.view).collect()
                    label=Signal::derive(label)
                    on_press=on_press
                />
                <div class="zoom">
                    {button(IconName::Plus, |texts| texts.zoom_in)}
                    {button(IconName::Minus, |texts| texts.zoom_out)}
                    {button(IconName::Fit, |texts| texts.fit)}
                </div>
                {way}
                {empty}
            </div>
            <Others />
            </div>
            <Legend kinds=kinds />
        </section>
    }
}
