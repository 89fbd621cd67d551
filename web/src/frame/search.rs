//! The search field of the bar: runs and tags, with links, by keyboard.

use std::collections::BTreeMap;

use leptos::html::Input;
use trainscope_format::Kind;

use super::FrameState;
use crate::components::{Icon, IconName, RunChip};
use crate::erased::{Show, effect, handler, memo};
use crate::i18n::use_i18n;
use crate::location::{History, use_address};
use crate::prelude::*;
use crate::route::{self, use_place};
use crate::state::{AppState, use_app_state};

/// Runs shown among the results.
const RUNS: usize = 8;
/// Tags shown among the results.
const TAGS: usize = 12;

/// One result.
#[derive(Clone, PartialEq)]
struct Hit {
    run: String,
    /// The tag and how many runs have it.
    tag: Option<(String, u64)>,
}

impl Hit {
    fn href(&self) -> String {
        match &self.tag {
            Some((tag, _)) => route::scalars_href(&self.run, &[], Some(tag)),
            None => route::overview_href(&self.run),
        }
    }
}

/// The search field.
#[component]
pub(super) fn Search() -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let frame: FrameState = expect_context();
    let place = use_place();
    let address = use_address();
    let field = NodeRef::<Input>::new();
    let text = RwSignal::new(String::new());
    let open = RwSignal::new(false);
    let chosen = RwSignal::new(0_usize);
    let hits = memo(move || {
        let wanted = text.get().trim().to_lowercase();
        if open.get() && !wanted.is_empty() {
            place.with(|place| find(state, place.run(), &wanted))
        } else {
            Vec::new()
        }
    });
    effect(move || {
        if frame.focus_search.get() > 0
            && let Some(field) = field.get_untracked()
        {
            // The field is always on the page.
            let _ignored = field.focus();
            field.select();
        }
    });
    let leave = move || {
        open.set(false);
        if let Some(field) = field.get_untracked() {
            // Nothing to do if it had no focus.
            let _ignored = field.blur();
        }
    };
    let on_keydown = move |event: web_sys::KeyboardEvent| {
        let count = hits.with(Vec::len);
        match event.key().as_str() {
            "ArrowDown" if count > 0 => chosen.update(|row| *row = (*row + 1) % count),
            "ArrowUp" if count > 0 => chosen.update(|row| *row = (*row + count - 1) % count),
            "Enter" => {
                if let Some(hit) = hits.with(|hits| hits.get(chosen.get()).cloned()) {
                    address.go(&hit.href(), History::Push);
                    leave();
                }
            }
            "Escape" => leave(),
            _ => return,
        }
        event.prevent_default();
    };
    let results = move || {
        let texts = &i18n.texts().frame;
        let all = hits.get();
        if all.is_empty() {
            return view! {
                <p class="small ink3 nothing">{(texts.search_nothing)(text.get().trim())}</p>
            }
            .into_any();
        }
        let split = all.iter().take_while(|hit| hit.tag.is_none()).count();
        let row = move |position: usize, hit: &Hit| {
            let (name, beside) = match &hit.tag {
                None => (hit.run.clone(), None),
                Some((tag, 1)) => (tag.clone(), Some(hit.run.clone())),
                Some((tag, runs)) => (tag.clone(), Some((i18n.texts().runs.runs)(*runs))),
            };
            view! {
                <li role="option" id=format!("hit-{position}") aria-selected=move || {
                    (chosen.get() == position).to_string()
                }>
                    <a class="hit" href=hit.href() on:click=handler(move |_| leave())>
                        <RunChip run=hit.run.clone() />
                        <span class="cut">{name}</span>
                        <span class="cut ink3 beside">{beside}</span>
                    </a>
                </li>
            }
        };
        let (runs, tags) = all.split_at(split);
        let section = |heading: &'static str, hits: &[Hit], first: usize| {
            (!hits.is_empty()).then(|| {
                let rows = hits
                    .iter()
                    .enumerate()
                    .map(|(offset, hit)| row(first + offset, hit))
                    .collect_view();
                view! {
                    <li class="micro ink3 heading" role="presentation">
                        {heading}
                    </li>
                    {rows}
                }
            })
        };
        view! {
            <ul class="hits" role="listbox" id="search-hits" aria-label=texts.search>
                {section(texts.found_runs, runs, 0)}
                {section(texts.found_tags, tags, split)}
            </ul>
        }
        .into_any()
    };
    let shown = memo(move || open.get() && text.with(|text| !text.trim().is_empty()));
    view! {
        <div class="search hide-small" role="search">
            <label class="field" class:focus=move || open.get()>
                <Icon name=IconName::Search size=14 />
                <input
                    class="bare-input"
                    type="text"
                    role="combobox"
                    autocomplete="off"
                    spellcheck="false"
                    node_ref=field
                    placeholder=i18n.text(|t| t.frame.search)
                    aria-label=i18n.text(|t| t.frame.search)
                    aria-expanded=move || shown.get().to_string()
                    aria-controls="search-hits"
                    aria-activedescendant=move || {
                        shown.get().then(|| format!("hit-{}", chosen.get()))
                    }
                    prop:value=move || text.get()
                    on:input=move |event| {
                        text.set(event_target_value(&event));
                        chosen.set(0);
                        open.set(true);
                    }
                    on:focus=handler(move |_| {
                        open.set(true);
                        load_tags(state);
                    })
                    on:blur=handler(move |_| {
                        open.set(false);
                        frame.searching.set(false);
                    })
                    on:keydown=on_keydown
                />
                <kbd>"/"</kbd>
            </label>
            <Show when=move || shown.get()>
                // The press must not take the focus from the field, or the list would be gone before the click.
                <div class="popover" on:pointerdown=|event| event.prevent_default() on:mousedown=|event| event.prevent_default()>
                    {results}
                </div>
            </Show>
        </div>
    }
}

/// Runs in the order of the list, then each known tag once: it leads to the run of this page if that has it, otherwise
/// to the first that does.
fn find(state: AppState, own_run: Option<&str>, wanted: &str) -> Vec<Hit> {
    let list = state.runs.get();
    let named = list
        .runs
        .iter()
        .filter(|run| run.id.to_lowercase().contains(wanted));
    let mut hits: Vec<_> = named
        .take(RUNS)
        .map(|run| Hit {
            run: run.id.clone(),
            tag: None,
        })
        .collect();
    state.with_tags(|known| {
        let mut found: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
        for run in &list.runs {
            let scalars = known
                .get(&run.id)
                .into_iter()
                .flat_map(|list| &list.tags)
                .filter(|tag| tag.kind == Kind::Scalars)
                .map(|tag| tag.tag.as_str());
            let mut before = None;
            for tag in scalars.filter(|tag| tag.to_lowercase().contains(wanted)) {
                // Ranks and writers of one tag follow each other.
                if before.replace(tag) == Some(tag) {
                    continue;
                }
                let (leads_to, runs) = found.entry(tag).or_insert((&run.id, 0));
                *runs += 1;
                if own_run == Some(&*run.id) {
                    *leads_to = &run.id;
                }
            }
        }
        hits.extend(found.into_iter().take(TAGS).map(|(tag, (run, runs))| Hit {
            run: run.to_owned(),
            tag: Some((tag.to_owned(), runs)),
        }));
    });
    hits
}

/// Tags are asked for when somebody begins to search, of the first runs only: a list of a thousand runs is searched by
/// name at once, and by tag where a tag is known.
fn load_tags(state: AppState) {
    const RUNS_ASKED: usize = 50;
    let list = state.runs.get_untracked();
    let first = list.runs.iter().take(RUNS_ASKED);
    state.load_tags(first.map(|run| run.id.clone()), false);
}
