//! Head of an axis: its name, and the menu of what can be done with it.

use trainscope_api::table::{ColumnGroup, ColumnKind, SUMMARIES};

use super::axis::ChosenScale;
use super::gestures::Gestures;
use super::model::use_model;
use crate::components::{IconName, MenuItem, Popover};
use crate::prelude::*;

/// A head that is dragged to another place, or opens its menu.
#[component]
pub(super) fn AxisHead(
    /// Key of the column.
    key: String,
    /// Position of the axis.
    x: Memo<f64>,
    gestures: Gestures,
) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let is_open = RwSignal::new(false);
    let id = StoredValue::new(key.clone());
    let info = Memo::new(move |_| model.info(&id.get_value()));
    let name = move || info.with(|info| info.label.clone());
    let is_focused = move || {
        model
            .axis_focus
            .with(|focus| focus.as_ref() == Some(&id.get_value()))
    };
    let label = move || {
        let nan = info.with(|info| info.nan);
        let title = format!(
            "{} · {}",
            info.with(|info| info.key.clone()),
            i18n.texts().lineage.axis_menu
        );
        if nan > 0 {
            format!("{title} · {}", (i18n.texts().lineage.with_nan)(nan as u64))
        } else {
            title
        }
    };
    let face = move || {
        let name = name();
        view! { <span class="cut">{name}</span> }.into_any()
    };
    let menu = move || {
        let texts = i18n.texts().lineage;
        let close = move || is_open.set(false);
        let scale = move |scale: ChosenScale, label: &'static str| {
            view! {
                <MenuItem
                    icon=IconName::Scalars
                    label=Signal::derive(move || label.to_owned())
                    on_press=move || {
                        close();
                        id.with_value(|key| model.change_look(key, |look| look.scale = Some(scale)));
                    }
                />
            }
        };
        let is_numeric =
            info.with(|info| matches!(info.kind, ColumnKind::Number | ColumnKind::Integer));
        let scales = is_numeric.then(|| {
            view! {
                {scale(ChosenScale::Linear, texts.linear)}
                {scale(ChosenScale::Log, texts.log)}
                {scale(ChosenScale::Symlog, texts.symlog)}
            }
        });
        let is_metric =
            info.with(|info| info.group == ColumnGroup::Result && info.key.starts_with("metric:"));
        let summaries = is_metric.then(|| {
            let choose = move |event: web_sys::Event| {
                let by = event_target_value(&event);
                close();
                id.with_value(|key| model.replace_column(key, &by));
            };
            let (base, own) = info.with(|info| {
                let base = info.key.split('@').next().unwrap_or_default().to_owned();
                (base, info.key.clone())
            });
            let named = SUMMARIES.iter().map(|name| format!("{base}@{name}"));
            let all = std::iter::once(base.clone()).chain(named);
            let options = all
                .map(|key| {
                    let is_own = key == own;
                    let word = key.split('@').nth(1).unwrap_or("last").to_owned();
                    view! { <option value=key selected=is_own>{word}</option> }
                })
                .collect_view();
            view! {
                <label class="field-label small">
                    {texts.summary}
                    <select class="field" on:change=choose>{options}</select>
                </label>
            }
        });
        view! {
            {scales}
            <MenuItem
                icon=IconName::Down
                label=i18n.label(|t| t.lineage.upside_down)
                on_press=move || {
                    close();
                    id.with_value(|key| {
                        model.change_look(key, |look| look.is_upside_down = !look.is_upside_down);
                    });
                }
            />
            <MenuItem
                icon=IconName::Only
                label=i18n.label(|t| t.lineage.colour_by_this)
                on_press=move || {
                    close();
                    id.with_value(|key| model.set_colour(key));
                }
            />
            {summaries}
            <MenuItem
                icon=IconName::Close
                label=i18n.label(|t| t.lineage.remove)
                on_press=move || {
                    close();
                    id.with_value(|key| model.remove_axis(key));
                }
            />
        }
    };
    view! {
        <span
            class="pc-head"
            class:cur=is_focused
            data-axis=key
            style:left=move || format!("{}px", x.get())
            on:pointerdown=move |event| {
                event.stop_propagation();
                id.with_value(|key| gestures.begin_head(key, &event));
            }
        >
            <Popover
                is_open=is_open
                label=Signal::derive(label)
                class="btn bare pc-name"
                panel_class="popover narrow-menu"
                role="menu"
                face=ViewFn::from(face)
            >
                {menu}
            </Popover>
        </span>
    }
}
