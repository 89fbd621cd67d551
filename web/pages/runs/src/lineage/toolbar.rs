//! The toolbar: tab, filter, brushes as chips, number of kept rows, colour, groups, views, columns, exports.

use leptos::html::Input;
use trainscope_api::notebook::View as SavedView;
use trainscope_api::status::AccessRole;
use trainscope_api::table::{ColumnGroup, ColumnKind};

use super::export::{Format, export};
use super::model::{BY_RUN, SELECT_CHARS, SidePanel, use_model};
use super::plot::words;
use super::shades::use_shades;
use super::suggestions::{self, FilterTerms};
use trainscope_web_kit::components::{
    Icon, IconButton, IconName, MenuItem, Popover, SegOption, Segmented, use_may, use_palette,
};
use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::SitePage;
use trainscope_web_kit::url_state::History;

/// Maximum number of results of a front; a further one replaces the first.
const MAX_GOALS: usize = 3;

/// Name of this page among saved views.
fn page() -> &'static str {
    SitePage::Lineage.entry().segment
}

#[component]
pub(super) fn Toolbar(
    /// Field of the filter, which the key `/` focuses.
    filter: NodeRef<Input>,
) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let tabs = vec![
        SegOption {
            value: false,
            label: i18n.label(|t| t.lineage().model),
        },
        SegOption {
            value: true,
            label: i18n.label(|t| t.lineage().dataset),
        },
    ];
    let columns_open = Signal::derive(move || model.panel.get() == Some(SidePanel::Columns));
    let is_brushed = move || !model.brushes.with(std::collections::BTreeMap::is_empty);
    let is_narrowed = move || {
        !model.named.with(Vec::is_empty) || !model.filter.with(String::is_empty) || is_brushed()
    };
    view! {
        <div class="toolbar lineage-bar">
            <Segmented
                label=i18n.label(|t| t.lineage().tab)
                options=tabs
                value=model.is_data
                on_choose=move |is_data| model.set_tab(is_data)
            />
            <label class="field lineage-filter">
                <Icon name=IconName::Filter size=14 />
                <input
                    class="bare-input"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    list=suggestions::LIST
                    node_ref=filter
                    placeholder=i18n.text(|t| t.lineage().filter_placeholder)
                    aria-label=i18n.text(|t| t.runs().filter)
                    prop:value=move || model.filter.get()
                    on:input=move |event| model.set_filter(&event_target_value(&event))
                    on:keydown=move |event| {
                        if event.key() == "Escape"
                            && let Some(field) = filter.get_untracked()
                        {
                            // Nothing to do if the field does not have the focus.
                            let _ignored = field.blur();
                        }
                    }
                />
                <FilterTerms />
            </label>
            <span class="grow"></span>
            <ColourBy />
            <GroupBy />
            <Pareto />
            <Views />
            <IconButton
                icon=IconName::Columns
                label=i18n.label(|t| t.runs().columns)
                pressed=columns_open
                on_press=move || {
                    let panel = SidePanel::Columns;
                    model.open_panel((!columns_open.get_untracked()).then_some(panel.clone()));
                }
            />
            <Exports />
        </div>
        <div class="toolbar lineage-state">
            <span class="small ink2 kept" data-part="kept">
                {move || {
                    let kept = model.kept.with(|kept| kept.rows.len() as u64);
                    let all = model.view.with(|view| view.len() as u64);
                    (i18n.texts().lineage().kept)(kept, all)
                }}
            </span>
            <Show when=move || model.is_part.get()>
                <button
                    type="button"
                    class="link small"
                    on:click=move |_| model.keep_only()
                >
                    {i18n.text(|t| t.lineage().keep_only)}
                </button>
                <button
                    type="button"
                    class="link small"
                    disabled=move || !model.can_exclude()
                    on:click=move |_| model.exclude()
                >
                    {i18n.text(|t| t.lineage().exclude)}
                </button>
            </Show>
            <Show when=is_narrowed>
                <button type="button" class="link small" on:click=move |_| model.reset()>
                    {i18n.text(|t| t.lineage().reset)}
                </button>
            </Show>
            <Unread />
            <Chips />
        </div>
    }
}

/// Unreadable configuration files, and the numbers of values and columns beyond a limit.
#[component]
fn Unread() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let is_open = RwSignal::new(false);
    let count = Memo::new(move |_| {
        model.columns.with(|columns| {
            (columns.fault_count + columns.values_left_out + columns.left_out) as u64
        })
    });
    let face = move || {
        view! {
            <span class="small warn" data-part="unread">
                {(i18n.texts().lineage().unread)(count.get())}
            </span>
        }
        .into_any()
    };
    let content = move || {
        let texts = i18n.texts().lineage();
        let columns = model.columns.get();
        let faults = columns.faults.iter();
        let faults = faults.map(|fault| {
            let run = model.state.short_name(&fault.run);
            view! { <p class="small">{format!("{run}/{}: {}", fault.path, fault.reason)}</p> }
        });
        let counts = [
            (
                columns.fault_count.saturating_sub(columns.faults.len()),
                texts.files_unread,
            ),
            (columns.values_left_out, texts.values_left_out),
            (columns.left_out, texts.columns_left_out),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts =
            counts.map(|(count, text)| view! { <p class="small">{text(count as u64)}</p> });
        view! {
            {faults.collect_view()}
            {counts.collect_view()}
        }
    };
    view! {
        <Show when=move || { count.get() > 0 }>
            <Popover
                is_open=is_open
                label=Signal::derive(move || (i18n.texts().lineage().unread)(count.get()))
                class="btn bare"
                role="dialog"
                panel_class="popover"
                face=ViewFn::from(face)
            >
                {content}
            </Popover>
        </Show>
    }
}

/// Brushes, each with a button that removes it.
#[component]
fn Chips() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let chips = move || {
        let brushes = model.brushes.get();
        let chips = brushes.into_iter().map(|(key, brush)| {
            let label = model.info(&key).label;
            let lanes = i18n.texts().lineage().lanes;
            let text = words(&brush, |lane| lane.label(lanes).to_owned());
            let remove = (i18n.texts().lineage().remove_brush)(&label);
            let (column, title) = (key.clone(), text.clone());
            view! {
                <span class="tok" data-brush=column title=title>
                    <b>{label}</b>
                    <span class="cut">{text}</span>
                    <button
                        type="button"
                        class="tok-x"
                        aria-label=remove
                        on:click=move |_| model.set_brush(&key, super::brush::Brush::default(), History::Push)
                    >
                        <Icon name=IconName::Close size=10 />
                    </button>
                </span>
            }
        });
        chips.collect_view()
    };
    view! {
        <Show when=move || !model.brushes.with(std::collections::BTreeMap::is_empty)>
            <span class="flex lineage-chips">{chips}</span>
        </Show>
    }
}

/// Choice of the column that colours the lines, with the ends of its scale.
#[component]
fn ColourBy() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let shades = use_shades();
    let options = move || {
        let colour = model.colour.get();
        let by_run = colour.as_deref() == Some(BY_RUN);
        let all = model.columns.with(|columns| {
            let fit = columns.columns.iter().filter(|info| {
                super::axis::is_axis(info)
                    && super::axis::differs(info)
                    && info.group != ColumnGroup::Note
            });
            fit.map(|info| {
                let is_chosen = colour.as_ref() == Some(&info.key);
                let label = trainscope_charts::label::middle_cut(&info.label, SELECT_CHARS);
                view! {
                    <option value=info.key.clone() selected=is_chosen title=info.label.clone()>
                        {label}
                    </option>
                }
            })
            .collect_view()
        });
        view! {
            {all}
            <option value=BY_RUN selected=by_run>{i18n.texts().lineage().by_run}</option>
        }
    };
    let end = move |at: usize| {
        shades.with(|shades| shades.ends.map(|ends| format::cell([ends.0, ends.1][at])))
    };
    view! {
        <span class="ctl colour-by">
            <span class="hide-narrow">{i18n.text(|t| t.lineage().colour_by)}</span>
            <select
                class="field"
                aria-label=i18n.text(|t| t.lineage().colour_by)
                on:change=move |event| model.set_colour(&event_target_value(&event))
            >
                {options}
            </select>
            <Show when=move || shades.with(|shades| shades.ends.is_some())>
                <span class="micro hide-narrow">{move || end(0)}</span>
                <i class="seq-ramp hide-narrow" aria-hidden="true"></i>
                <span class="micro hide-narrow">{move || end(1)}</span>
            </Show>
        </span>
    }
}

/// Choice of parameters that group repetitions.
#[component]
fn GroupBy() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let is_open = RwSignal::new(false);
    let is_on = Signal::derive(move || !model.group.with(Vec::is_empty));
    let word = move || {
        if !is_on.get() {
            return i18n.texts().lineage().group_by.to_owned();
        }
        let (least, most) = model.view.with(|view| {
            let sizes = || view.runs_of_rows().map(<[String]>::len);
            (
                sizes().min().unwrap_or(0) as u64,
                sizes().max().unwrap_or(0) as u64,
            )
        });
        (i18n.texts().lineage().grouped)(least, most)
    };
    let face = move || view! { <span class="small">{word()}</span> }.into_any();
    let content = move || {
        let texts = i18n.texts().lineage();
        let offer = model.group_offer();
        let group = model.group.get();
        let rows = offer
            .iter()
            .map(|key| {
                let (key, label) = (key.clone(), model.info(key).label);
                let is_in = group.contains(&key);
                let group = group.clone();
                view! {
                    <button
                        type="button"
                        class="hit"
                        role="menuitemcheckbox"
                        aria-checked=is_in.to_string()
                        on:click=move |_| {
                            let mut next = group.clone();
                            if is_in {
                                next.retain(|other| *other != key);
                            } else {
                                next.push(key.clone());
                            }
                            model.set_group(&next);
                        }
                    >
                        <span class="check" class:on=is_in></span>
                        {label}
                    </button>
                }
            })
            .collect_view();
        let whole = offer.clone();
        view! {
            <button
                type="button"
                class="hit"
                role="menuitem"
                on:click=move |_| {
                    is_open.set(false);
                    model.set_group(&whole);
                }
            >
                {texts.group_offer}
            </button>
            <button
                type="button"
                class="hit"
                role="menuitem"
                on:click=move |_| {
                    is_open.set(false);
                    model.set_group(&[]);
                }
            >
                {texts.no_groups}
            </button>
            <p class="micro ink3 heading">{texts.group_rows}</p>
            {rows}
        }
    };
    view! {
        <Popover
            is_open=is_open
            label=i18n.label(|t| t.lineage().group_by)
            class="btn bare hide-small"
            role="menu"
            panel_class="popover narrow-menu"
            pressed=is_on
            face=ViewFn::from(face)
        >
            {content}
        </Popover>
    }
}

/// Choice of results for Pareto fronts.
#[component]
fn Pareto() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let is_open = RwSignal::new(false);
    let results = Memo::new(move |_| {
        model.columns.with(|columns| {
            let known = columns.columns.iter().filter(|info| {
                info.group == ColumnGroup::Result
                    && info.direction.is_some()
                    && matches!(info.kind, ColumnKind::Number | ColumnKind::Integer)
            });
            known
                .map(|info| (info.key.clone(), info.label.clone()))
                .collect::<Vec<_>>()
        })
    });
    let is_on = Signal::derive(move || !model.pareto.with(Vec::is_empty));
    let face =
        move || view! { <span class="small">{i18n.texts().lineage().pareto}</span> }.into_any();
    let content = move || {
        let chosen = model.pareto.get();
        let rows = results
            .get()
            .into_iter()
            .map(|(key, label)| {
                let is_in = chosen.contains(&key);
                let chosen = chosen.clone();
                view! {
                    <button
                        type="button"
                        class="hit"
                        role="menuitemcheckbox"
                        aria-checked=is_in.to_string()
                        on:click=move |_| {
                            let mut next = chosen.clone();
                            if is_in {
                                next.retain(|other| *other != key);
                            } else {
                                next.push(key.clone());
                            }
                            if next.len() > MAX_GOALS {
                                next.remove(0);
                            }
                            model.set_pareto(&next);
                        }
                    >
                        <span class="check" class:on=is_in></span>
                        {label}
                    </button>
                }
            })
            .collect_view();
        view! {
            <p class="micro ink3 heading">{i18n.texts().lineage().pareto_hint}</p>
            {rows}
        }
    };
    view! {
        <Show when=move || results.with(|all| all.len() > 1)>
            <Popover
                is_open=is_open
                label=i18n.label(|t| t.lineage().pareto)
                class="btn bare hide-small"
                role="menu"
                panel_class="popover narrow-menu"
                pressed=is_on
                face=ViewFn::from(face)
            >
                {content}
            </Popover>
        </Show>
    }
}

/// Saved views of this page, stored next to the runs.
#[component]
fn Views() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let is_open = RwSignal::new(false);
    let name = RwSignal::new(String::new());
    let face =
        move || view! { <span class="small">{i18n.texts().lineage().views}</span> }.into_any();
    let save = move || {
        let trimmed = name.get_untracked().trim().to_owned();
        if trimmed.is_empty() {
            return;
        }
        let query = window().location().search().unwrap_or_default();
        let view = SavedView {
            name: trimmed,
            page: page().to_owned(),
            query: query.trim_start_matches('?').to_owned(),
        };
        let mut views = untrack(|| model.notebook.with(|book| book.views.clone()));
        views.retain(|other| (&other.page, &other.name) != (&view.page, &view.name));
        views.push(view);
        model.notebook.set_views(views);
        name.set(String::new());
        is_open.set(false);
    };
    let may = use_may(AccessRole::Annotate);
    let content = move || {
        let views = model.notebook.with(|book| book.views.clone());
        let of_page = views.into_iter().filter(|view| view.page == page());
        let rows = of_page
            .map(|view| {
                let href = format!("{}?{}", trainscope_web_kit::route::site_href(SitePage::Lineage), view.query);
                let label = (i18n.texts().lineage().remove_view)(&view.name);
                let gone = view.name.clone();
                view! {
                    <span class="flex">
                        <a class="hit grow" href=href on:click=move |_| is_open.set(false)>{view.name.clone()}</a>
                        {may.get().then(|| view! {
                            <IconButton
                                icon=IconName::Close
                                size=12
                                label=Signal::stored(label)
                                on_press=move || {
                                    let mut views = untrack(|| model.notebook.with(|book| book.views.clone()));
                                    views.retain(|other| other.page != page() || other.name != gone);
                                    model.notebook.set_views(views);
                                }
                            />
                        })}
                    </span>
                }
            })
            .collect_view();
        view! {
            {rows}
            {may.get().then(|| view! {
                <form
                    class="flex view-form"
                    on:submit=move |event| {
                        event.prevent_default();
                        save();
                    }
                >
                    <input
                        class="field grow"
                        type="text"
                        name="view"
                        placeholder=i18n.texts().lineage().view_name
                        aria-label=i18n.texts().lineage().view_name
                        prop:value=move || name.get()
                        on:input=move |event| name.set(event_target_value(&event))
                    />
                    <button type="submit" class="btn">{i18n.texts().lineage().save_view}</button>
                </form>
            })}
        }
    };
    view! {
        <Popover
            is_open=is_open
            label=i18n.label(|t| t.lineage().views)
            class="btn bare hide-small"
            panel_class="popover narrow-menu"
            face=ViewFn::from(face)
        >
            {content}
        </Popover>
    }
}

/// Downloads of the kept rows and of the picture.
#[component]
fn Exports() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let (palette, shades) = (use_palette(), use_shades());
    let is_open = RwSignal::new(false);
    let face = move || view! { <Icon name=IconName::Download size=14 /> }.into_any();
    let items = move || {
        let item = |label: &'static str, format: Format| {
            view! {
                <MenuItem
                    icon=IconName::Download
                    label=Signal::stored(label.to_owned())
                    on_press=move || {
                        is_open.set(false);
                        export(&model, &palette.get_untracked(), &shades.get_untracked(), format);
                    }
                />
            }
        };
        view! {
            {item("CSV", Format::Csv)}
            {item("JSON", Format::Json)}
            {item("SVG", Format::Svg)}
            {item("PNG", Format::Png)}
        }
    };
    view! {
        <Popover
            is_open=is_open
            label=i18n.label(|t| t.lineage().export)
            class="btn"
            panel_class="popover narrow-menu"
            role="menu"
            face=ViewFn::from(face)
        >
            {items}
        </Popover>
    }
}
