//! The choice of curves above the lanes.

use trainscope_format::Kind;

use super::model::{MAX_CURVES, use_model};
use trainscope_web_kit::components::{Check, Icon, IconName, Popover};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// Maximum number of tags in the list.
const MAX_TAGS: usize = 300;

/// The button with the list of scalars.
#[component]
pub(super) fn CurvesButton() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let is_open = RwSignal::new(false);
    let filter = RwSignal::new(String::new());
    Effect::new(move || {
        if is_open.get() {
            state.load_tags([model.profiles.run.get()], false);
        }
    });
    let has_clock = Memo::new(move |_| model.frame.with(|frame| frame.unix_nanos.is_some()));
    let tags = Memo::new(move |_| {
        let list = model.profiles.run.with(|run| state.tags(run))?;
        let scalars = list.tags.iter().filter(|tag| tag.kind == Kind::Scalars);
        let mut names: Vec<String> = scalars.map(|tag| tag.tag.clone()).collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    });
    let rows = move || {
        let wanted = filter.get().to_lowercase();
        let tags = tags.get()?;
        let matching = tags
            .into_iter()
            .filter(|tag| tag.to_lowercase().contains(&wanted));
        let rows = matching.take(MAX_TAGS).map(|tag| {
            let (shown, pressed) = (tag.clone(), tag.clone());
            let checked =
                Signal::derive(move || model.curve_tags.with(|tags| tags.contains(&shown)));
            view! {
                <label class="flex small lane-choice">
                    <Check
                        checked
                        label=tag.clone()
                        on_press=move || model.turn_curve(&pressed)
                    />
                    <span class="cut" title=tag.clone()>
                        {tag.clone()}
                    </span>
                </label>
            }
        });
        Some(rows.collect_view())
    };
    let content = move || {
        let texts = i18n.texts().timeline();
        if !has_clock.get() {
            return view! { <p class="small ink2">{texts.no_clock}</p> }.into_any();
        }
        let note = move || {
            let count = tags.with(|tags| tags.as_ref().map(Vec::len))?;
            let chosen = model.curve_tags.with(Vec::len);
            let texts = i18n.texts().timeline();
            Some(if count == 0 {
                texts.no_scalars.to_owned()
            } else {
                (texts.curves_of)(chosen as u64, MAX_CURVES as u64)
            })
        };
        view! {
            <input
                class="field"
                type="search"
                name="curves"
                autocomplete="off"
                aria-label=texts.filter_curves
                placeholder=texts.filter_curves
                prop:value=move || filter.get()
                on:input=move |event| filter.set(event_target_value(&event))
            />
            <p class="micro ink3">{note}</p>
            {rows}
        }
        .into_any()
    };
    let face = move || {
        let count = model.curve_tags.with(Vec::len);
        let count = (count > 0).then(|| view! { <span class="num">{count.to_string()}</span> });
        view! {
            <Icon name=IconName::Scalars size=14 />
            {count}
        }
        .into_any()
    };
    view! {
        <Popover
            is_open
            label=i18n.label(|t| t.timeline().choose_curves)
            class="btn bare"
            panel_class="popover lane-list"
            pressed=Signal::derive(move || model.curve_tags.with(|tags| !tags.is_empty()))
            face=ViewFn::from(face)
        >
            {content}
        </Popover>
    }
}
