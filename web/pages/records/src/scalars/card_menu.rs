//! Menu of a card: scale, limits, downloads, full screen.

use leptos::html;

use super::choices::ScaleChoice;
use super::drawing::Pens;
use super::export::{self, Format};
use super::page::{PageState, Panel};
use trainscope_web_kit::components::{Icon, IconName, SegOption, Segmented};
use trainscope_web_kit::components::{MenuItem, Popover};
use trainscope_web_kit::i18n::{ScalarsTexts, use_i18n};
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn CardMenu(
    page: PageState,
    tag: StoredValue<String>,
    section: NodeRef<html::Section>,
) -> impl IntoView {
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let word = move |word: fn(&ScalarsTexts) -> &'static str| {
        Signal::derive(move || word(i18n.texts().scalars()).to_owned())
    };
    let pens = Pens::get();
    let download = move |format: Format| {
        is_open.set(false);
        export::save(page, pens, i18n, vec![tag.get_value()], format);
    };
    let open = move |panel: Panel| {
        is_open.set(false);
        page.current.set(Some(tag.get_value()));
        page.panel.set(Some((panel, tag.get_value())));
    };
    let whole_screen = move || {
        is_open.set(false);
        if let Some(section) = section.get_untracked() {
            // A browser that refuses leaves the card as it is.
            let _ignored = section.request_fullscreen();
        }
    };
    let scale = Signal::derive(move || tag.with_value(|tag| page.y_scale(tag)));
    let option = move |value, name| SegOption {
        value,
        label: word(name),
    };
    view! {
        <Popover
            is_open=is_open
            label=word(|t| t.more)
            panel_class="popover card-menu"
            role="menu"
            face=ViewFn::from(|| view! { <Icon name=IconName::More size=12 /> })
        >
            <Segmented
                label=word(|t| t.y_axis)
                options=vec![
                    option(ScaleChoice::Linear, |t| t.linear),
                    option(ScaleChoice::Log, |t| t.log),
                    option(ScaleChoice::Symlog, |t| t.symlog),
                ]
                value=scale
                on_choose=move |scale| page.settings.set_own_y(&tag.get_value(), scale)
            />
            <MenuItem
                icon=IconName::Warning
                label=word(|t| t.limits)
                on_press=move || open(Panel::Limits)
            />
            <MenuItem
                icon=IconName::Tensors
                label=word(|t| t.as_table)
                on_press=move || open(Panel::Table)
            />
            <MenuItem icon=IconName::Fit label=word(|t| t.whole_screen) on_press=whole_screen />
            <hr />
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_csv)
                on_press=move || download(Format::Csv)
            />
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_json)
                on_press=move || download(Format::Json)
            />
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_png)
                on_press=move || download(Format::Png)
            />
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_svg)
                on_press=move || download(Format::Svg)
            />
        </Popover>
    }
}
