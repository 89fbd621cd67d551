//! The left panel: runs above tags, because they change more often.

use leptos::ev;
use trainscope_api::order::natural;

use super::Browse;
use super::run_row::RunRow;
use super::shown::neighbours;
use super::tag_tree::TagTree;
use crate::components::{Icon, IconName, Popover, RunChip};
use crate::i18n::use_i18n;
use crate::prelude::*;
use crate::run_name::split_name;
use crate::state::use_app_state;

/// Maximum number of runs offered below the field that adds one.
const MAX_OFFERED: usize = 50;

/// Runs, filter, tags, and totals.
#[component]
pub fn Side(
    /// Selection.
    browse: Browse,
    /// Totals, for the foot.
    #[prop(into)]
    totals: Signal<String>,
    /// Content between runs and tags.
    #[prop(optional)]
    children: Option<ChildrenFn>,
) -> impl IntoView {
    let i18n = use_i18n();
    let is_cut = move || {
        let shown = browse.shown.get();
        use_app_state().with_tags(|tags| {
            shown
                .iter()
                .any(|run| tags.get(run).is_some_and(|list| list.cut))
        })
    };
    view! {
        <aside class="side" aria-label=i18n.text(|t| t.scalars().tags)>
            <Show when=move || browse.has_side.get()>
                <RunList browse=browse />
                {children.clone().map(|children| children())}
                <FilterField browse=browse />
                <TagTree browse=browse />
                <div class="foot micro ink3">
                    {move || totals.get()}
                    {move || {
                        is_cut()
                            .then(|| {
                                view! { <span class="warn">" · " {i18n.texts().scalars().tags_cut}</span> }
                            })
                    }}
                </div>
            </Show>
        </aside>
    }
}

/// Displayed and hidden runs, and adding further ones.
#[component]
fn RunList(browse: Browse) -> impl IntoView {
    let i18n = use_i18n();
    let is_adding = RwSignal::new(false);
    let listed = Memo::new(move |_| {
        let mut listed: Vec<String> = browse.shown.get().to_vec();
        browse
            .hidden
            .with(|hidden| listed.extend(hidden.iter().cloned()));
        // The folder of the page's run first; displaying a run does not move its row under the pointer.
        let home = browse
            .own
            .with(|page_run| split_name(page_run).0.to_owned());
        listed.sort_by(|a, b| {
            let is_away = |run: &str| split_name(run).0 != home;
            is_away(a).cmp(&is_away(b)).then_with(|| natural(a, b))
        });
        listed
    });
    // Other runs of the folder, while only the page's run is drawn.
    let folder = Memo::new(move |_| {
        let is_alone = browse
            .own
            .with(|page_run| browse.shown.with(|shown| ***shown == [page_run.clone()]));
        let page_run = browse.own.get();
        let runs = use_app_state().runs.get();
        let others = is_alone.then(|| neighbours(&page_run, runs.runs.iter().map(|run| &*run.id)));
        others.unwrap_or_default()
    });
    let compare = move |_| {
        let mut shown = folder.get_untracked();
        browse.hidden.with_untracked(|hidden| {
            let hidden = hidden.iter().filter(|run| !shown.contains(run));
            let hidden: Vec<String> = hidden.cloned().collect();
            shown.push(browse.own.get_untracked());
            browse.set_runs(&shown, &hidden);
        });
    };
    let counts = move || {
        let shown = browse.shown.with(|shown| shown.len()).to_string();
        (i18n.texts().scalars().of)(&shown, &listed.with(Vec::len).to_string())
    };
    view! {
        <div class="sec">
            <b>{i18n.text(|t| t.scalars().runs)}</b>
            <span class="ink3">{counts}</span>
            <span class="grow"></span>
            <Popover
                is_open=is_adding
                label=i18n.label(|t| t.scalars().add_run)
                class="btn bare icon small-btn"
                panel_class="popover add-run"
                face=ViewFn::from(|| view! { <Icon name=IconName::Plus size=14 /> })
            >
                <AddRun browse=browse listed=listed is_adding=is_adding />
            </Popover>
        </div>
        <ul class="runs" aria-label=i18n.text(|t| t.scalars().runs)>
            <For each=move || listed.get() key=Clone::clone let:run>
                <RunRow browse=browse run=run />
            </For>
        </ul>
        <Show when=move || folder.with(|folder| !folder.is_empty())>
            <button type="button" class="link compare-folder" on:click=compare>
                {move || (i18n.texts().scalars().compare_folder)(folder.with(Vec::len) as u64)}
            </button>
        </Show>
    }
}

/// A search field over the runs that are not in the list yet, with the number of matches.
#[component]
fn AddRun(browse: Browse, listed: Memo<Vec<String>>, is_adding: RwSignal<bool>) -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let text = RwSignal::new(String::new());
    let field = NodeRef::<leptos::html::Input>::new();
    Effect::new(move || {
        if let Some(field) = field.get() {
            // A field that cannot take the focus can still be clicked.
            let _ignored = field.focus();
        }
    });
    let offered = Memo::new(move |_| {
        let wanted = text.get().to_lowercase();
        let listed = listed.get();
        state.runs.with(|list| {
            let ids = list.runs.iter().map(|run| &run.id);
            let mut found =
                ids.filter(|id| !listed.contains(id) && id.to_lowercase().contains(&wanted));
            let offered: Vec<String> = found.by_ref().take(MAX_OFFERED).cloned().collect();
            let all = offered.len() + found.count();
            (offered, all)
        })
    });
    let count = move || {
        offered.with(|(offered, all)| {
            let is_cut = offered.len() < *all;
            is_cut
                .then(|| (i18n.texts().scalars().of)(&offered.len().to_string(), &all.to_string()))
        })
    };
    let add = move |run: String| {
        let mut shown = browse.shown.get_untracked().to_vec();
        shown.push(run);
        browse.set_runs(&shown, &browse.hidden.get_untracked());
        is_adding.set(false);
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let first = offered.with_untracked(|(offered, _)| offered.first().cloned());
        if let Some(run) = first.filter(|_| event.key() == "Enter") {
            add(run);
        }
    };
    view! {
            <div class="field">
                <Icon name=IconName::Search size=14 />
                <input
                    class="bare-input"
                    node_ref=field
                    aria-label=i18n.text(|t| t.scalars().add_run)
                    placeholder=i18n.text(|t| t.scalars().add_run)
                    prop:value=move || text.get()
                    on:input=move |event| text.set(event_target_value(&event))
                    on:keydown=on_key
                />
            </div>
            <ul class="hits">
                <For each=move || offered.get().0 key=Clone::clone let:run>
                    {
                        let (added, name) = (run.clone(), run.clone());
                        view! {
                            <li>
                                <button
                                    type="button"
                                    class="hit"
                                    title=run.clone()
                                    on:click=move |_| add(added.clone())
                                >
                                    <RunChip run=run.clone() />
                                    <span class="cut">{name}</span>
                                </button>
                            </li>
                        }
                    }
                </For>
            </ul>
            <Show when=move || offered.with(|(_, all)| *all == 0)>
                <p class="micro ink3">{i18n.text(|t| t.scalars().no_run_to_add)}</p>
            </Show>
            <p class="micro ink3">{count}</p>
    }
}

/// The regular expression over tags; an incomplete one shows its error and hides nothing.
#[component]
fn FilterField(browse: Browse) -> impl IntoView {
    let i18n = use_i18n();
    let error = move || {
        browse
            .filter
            .with(|filter| filter.error().map(str::to_owned))
    };
    view! {
        <div class="filter">
            <div class="field" class:invalid=move || error().is_some()>
                <Icon name=IconName::Filter size=14 />
                <input
                    class="bare-input mono"
                    type="search"
                    spellcheck="false"
                    autocomplete="off"
                    aria-label=i18n.text(|t| t.scalars().filter)
                    aria-invalid=move || error().is_some().to_string()
                    placeholder=i18n.text(|t| t.scalars().tags)
                    title=i18n.text(|t| t.scalars().filter)
                    prop:value=move || browse.filter_text.get()
                    on:input=move |event| browse.set_filter(&event_target_value(&event))
                    on:keydown=move |event| {
                        if event.key() == "Escape" {
                            browse.set_filter("");
                        }
                    }
                />
                <span class="ink3 mono" aria-hidden="true">
                    ".*"
                </span>
            </div>
            {move || {
                error()
                    .map(|reason| {
                        view! {
                            <p class="micro warn" role="status" title=reason>
                                {i18n.texts().scalars().bad_filter}
                            </p>
                        }
                    })
            }}
        </div>
    }
}
