//! Head of an axis: its name and its menu.

use trainscope_api::table::{ColumnGroup, ColumnKind, SUMMARIES};

use super::axis::ChosenScale;
use super::gestures::Gestures;
use super::model::use_model;
use trainscope_web_kit::components::{IconName, MenuItem, Popover};
use trainscope_web_kit::prelude::*;

/// Maximum number of columns in the choice of an alias.
const MAX_OFFERED: usize = 500;
/// Maximum characters of a head next to its neighbours.
const HEAD_CHARS: usize = 16;

/// Head of an axis. A drag moves the axis, a press opens the menu.
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
            i18n.texts().lineage().axis_menu
        );
        if nan > 0 {
            format!(
                "{title} · {}",
                (i18n.texts().lineage().with_nan)(nan as u64)
            )
        } else {
            title
        }
    };
    let face = move || {
        let name = trainscope_charts::label::middle_cut(&name(), HEAD_CHARS);
        view! { <span class="cut">{name}</span> }.into_any()
    };
    let menu = move || {
        let texts = i18n.texts().lineage();
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
            let (base, current) = info.with(|info| {
                let base = info.key.split('@').next().unwrap_or_default().to_owned();
                (base, info.key.clone())
            });
            let named = SUMMARIES.iter().map(|name| format!("{base}@{name}"));
            let all = std::iter::once(base.clone()).chain(named);
            let options = all
                .map(|key| {
                    let is_current = key == current;
                    let word = key.split('@').nth(1).unwrap_or("last").to_owned();
                    view! { <option value=key selected=is_current>{word}</option> }
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
            {joined(&id.get_value(), is_open)}
            <MenuItem
                icon=IconName::Down
                label=i18n.label(|t| t.lineage().upside_down)
                on_press=move || {
                    close();
                    id.with_value(|key| {
                        model.change_look(key, |look| look.is_upside_down = !look.is_upside_down);
                    });
                }
            />
            <MenuItem
                icon=IconName::Only
                label=i18n.label(|t| t.lineage().colour_by_this)
                on_press=move || {
                    close();
                    id.with_value(|key| model.set_colour(key));
                }
            />
            {summaries}
            <MenuItem
                icon=IconName::Close
                label=i18n.label(|t| t.lineage().remove)
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
                is_floating=true
                face=ViewFn::from(face)
            >
                {menu}
            </Popover>
        </span>
    }
}

/// Choice of a column that takes this one in as an alias, and the aliases of this one.
fn joined(key: &str, is_open: RwSignal<bool>) -> impl IntoView + use<> {
    let model = use_model();
    let texts = model.i18n.texts().lineage();
    let column = model.info(key);
    let can_join = column.group == ColumnGroup::Parameter;
    let others = model.columns.with(|columns| {
        let others = columns.columns.iter();
        let others = others.filter(|info| info.group == column.group && info.key != column.key);
        let options = others.take(MAX_OFFERED).map(|info| {
            view! { <option value=info.key.clone()>{info.label.clone()}</option> }
        });
        options.collect_view()
    });
    let inside = model.notebook.with(|book| {
        let inside = book.aliases.iter().filter(|(_, into)| **into == column.key);
        inside.map(|(key, _)| key.clone()).collect::<Vec<_>>()
    });
    let inside = inside.into_iter().map(|key| {
        let label = (texts.apart)(&key);
        view! {
            <MenuItem
                icon=IconName::Close
                label=Signal::stored(label)
                on_press=move || {
                    is_open.set(false);
                    model.notebook.set_alias(&key, None);
                }
            />
        }
    });
    let inside = inside.collect_view();
    let key = column.key;
    let choose = move |event: web_sys::Event| {
        let into = event_target_value(&event);
        is_open.set(false);
        if !into.is_empty() {
            model.notebook.set_alias(&key, Some(&into));
        }
    };
    can_join.then(|| {
        view! {
            <label class="field-label small">
                {texts.shown_together}
                <select class="field" name="together" on:change=choose>
                    <option value="">"–"</option>
                    {others}
                </select>
            </label>
            {inside}
        }
    })
}
