//! The panel below the lanes: the slice, totals of the area or its flame chart, busy shares.

use super::MissingData;
use super::counter::counter_text;
use super::flame::FlameChart;
use super::ink::colour_of;
use super::model::{Tab, use_model};
use super::slice_panel::{SliceDetails, SliceFacts};
use super::step_links::step_links;
use super::times;
use super::totals::Totals;
use trainscope_web_kit::components::{IconButton, IconName};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Maximum number of lanes with a bar.
const MAX_LANES: usize = 100;

#[component]
pub(super) fn Bottom() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let tab = move |tab: Tab| {
        view! {
            <button
                type="button"
                role="tab"
                aria-selected=move || (model.tab.get() == tab).to_string()
                on:click=move |_| model.show_tab(tab)
            >
                {move || i18n.texts().timeline().tabs[tab as usize]}
            </button>
        }
    };
    let content = move || match model.tab.get() {
        Tab::Area => view! { <Totals /> }.into_any(),
        Tab::Flame => view! { <FlameChart /> }.into_any(),
        Tab::Slice => view! { <SliceDetails /> }.into_any(),
    };
    let about = move || {
        let texts = i18n.texts().timeline();
        let area = model.summed()?;
        let has_area = model.area.with(Option::is_some);
        let head = texts.about[usize::from(has_area)];
        let (from, to) = (area.from as f64, area.to as f64);
        let mut parts = vec![
            times::stretch(from, to, model.wall.get()),
            times::length(area.length()),
        ];
        if !area.lanes.is_empty() {
            parts.push((texts.lanes)(area.lanes.len() as u64));
        }
        if let Some(totals) = model.totals.answer.get() {
            parts.push((texts.slices)(totals.slices));
        }
        Some(view! {
            <b class="med">{head}</b>
            " "
            <span class="ink3">{parts.join(" · ")}</span>
        })
    };
    let links = move || {
        let texts = i18n.texts().timeline();
        model.chosen_step().map(|step| step_links(step, texts))
    };
    view! {
        <Show when=move || model.has_panel.get()>
            <section class="bottom" aria-label=i18n.text(|t| t.timeline().panel)>
                <div class="facts">
                    <SliceFacts />
                    <MissingData />
                </div>
                <div class="middle">
                    <div class="middle-head">
                        <div class="tabs" role="tablist">
                            {Tab::ALL.map(tab).into_iter().collect_view()}
                        </div>
                        <span class="small cut">{about}</span>
                        {links}
                        <span class="grow"></span>
                        <Show when=move || model.area.with(Option::is_some)>
                            <IconButton
                                icon=IconName::Close
                                size=12
                                label=i18n.label(|t| t.timeline().drop_area)
                                on_press=move || model.set_area(None)
                            />
                        </Show>
                    </div>
                    {content}
                </div>
                <div class="busy" tabindex="0">
                    <Busy />
                </div>
            </section>
        </Show>
        <button
            type="button"
            class="turn-panel"
            aria-expanded=move || model.has_panel.get().to_string()
            aria-label=i18n.text(|t| t.timeline().turn_panel)
            title=i18n.text(|t| t.timeline().turn_panel)
            on:click=move |_| model.turn_panel()
        ></button>
    }
}

/// Busy share of each lane, and the range of each counter.
#[component]
fn Busy() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let title = move || {
        let has_area = model.area.with(Option::is_some);
        i18n.texts().timeline().busy[usize::from(has_area)]
    };
    let bars = move || {
        let answer = model.totals.answer.get()?;
        let bars = answer.lanes.iter().take(MAX_LANES).map(|lane| {
            let width = lane.busy_nanos as f64 / (answer.length_nanos as f64).max(1.0);
            let share = times::share(lane.busy_nanos, answer.length_nanos);
            view! {
                <li title=lane.lane.clone()>
                    <span class="ink2 cut">{lane.name.clone()}</span>
                    <span class="track">
                        <i
                            style:width=format!("{:.1}%", width.min(1.0) * 100.0)
                            style:--c=colour_of(lane.kind)
                        ></i>
                    </span>
                    <span class="num">{share}</span>
                </li>
            }
        });
        Some(bars.collect_view())
    };
    let counters = move || {
        let answer = model.totals.answer.get()?;
        if answer.counters.is_empty() {
            return None;
        }
        let texts = i18n.texts().timeline();
        let rows = answer.counters.iter().map(|counter| {
            let unit = model.frame.with(|frame| {
                let mut all = frame.counters.iter();
                let known = all.find(|known| known.name == counter.name);
                known.map_or_else(String::new, |known| known.unit.clone())
            });
            let text = |value: f64| counter_text(value, &unit);
            view! {
                <tr>
                    <td class="cut" title=counter.name.clone()>
                        {counter.name.clone()}
                    </td>
                    <td class="num">{text(counter.least)}</td>
                    <td class="num">{text(counter.mean)}</td>
                    <td class="num">{text(counter.greatest)}</td>
                </tr>
            }
        });
        let [least, mean, greatest] = texts.counter_heads;
        Some(view! {
            <table class="dense">
                <thead>
                    <tr>
                        <th>{texts.counters}</th>
                        <th class="num">{least}</th>
                        <th class="num">{mean}</th>
                        <th class="num">{greatest}</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        })
    };
    view! {
        <h2>{title}</h2>
        <ul>{bars}</ul>
        {counters}
    }
}
