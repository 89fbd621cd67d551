//! Flame chart: the summed stacks of a stretch of time; a press makes a frame the root.

use super::ink::colour_number;
use super::model::use_model;
use super::times;
use crate::frames::{FrameLook, folded, frames_view, path};
use trainscope_web_kit::components::download::download;
use trainscope_web_kit::components::{IconButton, IconName, SegOption, Segmented};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn FlameChart() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let root = RwSignal::new(None::<usize>);
    let answer = Memo::new(move |_| model.flame.answer.get());
    Effect::new(move || {
        answer.track();
        root.set(None);
    });
    let options = [false, true]
        .map(|is_up| SegOption {
            value: is_up,
            label: Signal::derive(move || {
                i18n.texts().timeline().directions[usize::from(is_up)].to_owned()
            }),
        })
        .to_vec();
    let head = move || {
        let answer = answer.get()?;
        let texts = i18n.texts().timeline();
        let index = root.get()?;
        let frame = answer.frames.get(index)?;
        let name = frame.name.clone();
        let crumbs = path(&answer.frames, index).join(" › ");
        Some(view! {
            <button type="button" class="link small" on:click=move |_| root.set(None)>
                {texts.whole_flame}
            </button>
            <span class="micro ink3 cut" title=crumbs.clone()>
                {crumbs.clone()}
            </span>
            <button
                type="button"
                class="link small"
                on:click=move |_| model.set_search(&name)
            >
                {texts.frame_slices}
            </button>
        })
    };
    let chart = move || {
        let Some(answer) = answer.get() else {
            return ().into_any();
        };
        let texts = i18n.texts().timeline();
        if answer.frames.is_empty() {
            return view! { <p class="small ink3">{texts.no_stacks}</p> }.into_any();
        }
        frames_view(
            &answer,
            root,
            FrameLook {
                length: times::length,
                short: |name| name,
                colour: colour_number,
            },
        )
    };
    let save = move || {
        if let Some(answer) = answer.get_untracked() {
            download(&folded(&answer.frames), "text/plain", "stacks.folded.txt");
        }
    };
    view! {
        <div class="flame-head flex">
            <Segmented
                label=i18n.label(|t| t.timeline().direction)
                options
                value=Signal::derive(move || model.is_up.get())
                on_choose=move |is_up| model.set_up(is_up)
            />
            {head}
            <span class="grow"></span>
            <IconButton
                icon=IconName::Download
                label=i18n.label(|t| t.timeline().save_stacks)
                on_press=save
            />
        </div>
        <div class="flame-scroll">{chart}</div>
    }
}
