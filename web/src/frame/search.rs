//! The search field of the bar: pages, runs, tags of all kinds, nodes of the run's graph; with links, by keyboard. A
//! result has every word of the query; results of the page's run come first.

use std::collections::BTreeMap;

use leptos::html::Input;
use trainscope_api::graphs::SearchQuery;
use trainscope_api::order::natural;
use trainscope_api::runs::Run;
use trainscope_format::Kind;

use super::FrameState;
use trainscope_web_kit::client;
use trainscope_web_kit::components::{Icon, IconName, RunChip, fixed_icon};
use trainscope_web_kit::i18n::{FrameTexts, I18n, use_i18n};
use trainscope_web_kit::keys::row_after;
use trainscope_web_kit::location::{History, use_address};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::registry::{PAGES, SITE_PAGES, SitePage};
use trainscope_web_kit::route::{self, RunPage, use_place};
use trainscope_web_kit::state::{AppState, use_app_state};

/// Maximum number of pages of runs among the results.
const PAGES_OF_RUNS: usize = 8;
/// Maximum number of runs among the results.
const RUNS: usize = 8;
/// Maximum number of tags among the results.
const TAGS: usize = 12;
/// Maximum number of nodes among the results.
const NODES: usize = 8;
/// Minimum length of a query for nodes: shorter ones are in most names.
const NODE_LETTERS: usize = 2;

/// One result.
#[derive(Clone, Debug, PartialEq)]
enum Hit {
    Page(SitePage),
    /// A page of a run.
    RunPage(String, RunPage),
    Run(String),
    Tag {
        name: String,
        page: RunPage,
        /// Runs that have it, the page's run first.
        runs: Vec<String>,
    },
    Node {
        run: String,
        path: String,
    },
}

impl Hit {
    fn href(&self) -> String {
        match self {
            Self::Page(page) => route::site_href(*page),
            Self::RunPage(run, page) => route::run_href(run, *page),
            Self::Run(run) => route::overview_href(run),
            Self::Node { run, path } => route::graph_href(run, Some(path)),
            Self::Tag { name, page, runs } => {
                let run = runs.first().map_or("", String::as_str);
                match page {
                    RunPage::Scalars => route::scalars_href(run, &runs[1..], Some(name)),
                    RunPage::Tensors => route::tensors_href(run, name, 0, None),
                    _ => route::tag_href(run, *page, name),
                }
            }
        }
    }
}

/// Words of a query in lower case, all of which a result has.
#[derive(Clone, Debug, Default, PartialEq)]
struct Words(Vec<String>);

impl Words {
    fn of(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    /// `true` if each word is in one of the texts.
    fn are_in(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        let is_in = |word: &String| texts.iter().any(|text| text.contains(word.as_str()));
        self.0.iter().all(is_in)
    }

    /// `true` if the texts have all words, and the first text has at least one.
    fn are_about(&self, first: &str, second: &str) -> bool {
        let first = first.to_lowercase();
        self.0.iter().any(|word| first.contains(word.as_str())) && self.are_in(&[&first, second])
    }

    /// The longest word, which the server searches for.
    fn longest(&self) -> String {
        let longest = self.0.iter().max_by_key(|word| word.chars().count());
        longest.cloned().unwrap_or_default()
    }
}

/// Parts of the list of results, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Pages,
    OwnTags,
    Nodes,
    Runs,
    Tags,
}

impl Section {
    fn of(hit: &Hit, own_run: Option<&str>) -> Self {
        match hit {
            Hit::Page(_) | Hit::RunPage(..) => Self::Pages,
            Hit::Tag { runs, .. }
                if own_run.is_some() && runs.first().map(|run| &**run) == own_run =>
            {
                Self::OwnTags
            }
            Hit::Node { .. } => Self::Nodes,
            Hit::Run(_) => Self::Runs,
            Hit::Tag { .. } => Self::Tags,
        }
    }

    const fn heading(self, texts: &FrameTexts) -> &'static str {
        match self {
            Self::Pages => texts.found_pages,
            Self::OwnTags => texts.found_tags,
            Self::Nodes => texts.found_nodes,
            Self::Runs => texts.found_runs,
            Self::Tags => texts.found_tags_of_runs,
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
    let nodes = search_nodes(state, text, open);
    let own_run = Memo::new(move |_| place.with(|place| place.run().map(str::to_owned)));
    let hits = Memo::new(move |_| {
        let wanted = Words::of(&text.get());
        if !open.get() || wanted.0.is_empty() {
            return Vec::new();
        }
        let number = state.runs.with(|list| list.runs.len());
        let pages = SITE_PAGES.iter().filter(|entry| entry.least_runs <= number);
        let pages =
            pages.filter(|entry| wanted.are_in(&[(entry.title)(i18n.texts()), entry.segment]));
        let mut hits: Vec<Hit> = pages.map(|entry| Hit::Page(entry.page)).collect();
        let own_run = own_run.get();
        hits.extend(pages_of_runs(state, own_run.as_deref(), &wanted, i18n));
        hits.extend(find(state, own_run.as_deref(), &wanted));
        for hit in nodes.answer.get().iter().flat_map(|hits| hits.iter()) {
            let is_known = |known: &Hit| matches!((known, hit), (Hit::Tag { name: a, page: b, .. }, Hit::Tag { name, page, .. }) if a == name && b == page);
            if !hits.iter().any(is_known) {
                hits.push(hit.clone());
            }
        }
        hits.sort_by_key(|hit| Section::of(hit, own_run.as_deref()));
        hits
    });
    Effect::new(move || {
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
        text.set(String::new());
        if let Some(field) = field.get_untracked() {
            // Nothing to do if it had no focus.
            let _ignored = field.blur();
        }
    };
    let on_keydown = move |event: web_sys::KeyboardEvent| {
        let key = event.key();
        let count = hits.with_untracked(Vec::len);
        if key == "Escape" {
            leave();
        } else if let Some(row) = row_after(&key, chosen.get_untracked(), count) {
            chosen.set(row);
            let hit = hits.with_untracked(|hits| hits.get(row).cloned());
            if let (Some(hit), "Enter") = (hit, &*key) {
                address.go(&hit.href(), History::Push);
                leave();
            }
        } else {
            return;
        }
        event.prevent_default();
    };
    let results = move || {
        let texts = i18n.texts().frame();
        let all = hits.get();
        if all.is_empty() {
            return view! {
                <p class="small ink3 nothing">{(texts.search_nothing)(text.get().trim())}</p>
            }
            .into_any();
        }
        let row = move |position: usize, hit: &Hit| {
            let (icon, name, beside) = match hit {
                Hit::Page(page) => (
                    fixed_icon(page.entry().icon, 12).into_any(),
                    (page.entry().title)(i18n.texts()).to_owned(),
                    None,
                ),
                Hit::RunPage(run, page) => (
                    fixed_icon(page.entry().icon, 12).into_any(),
                    (page.entry().title)(i18n.texts()).to_owned(),
                    Some(run.clone()),
                ),
                Hit::Run(run) => {
                    let chip = view! { <RunChip run=run.clone() /> };
                    (chip.into_any(), run.clone(), None)
                }
                Hit::Tag { name, page, runs } => {
                    let beside = match &**runs {
                        [only] => only.clone(),
                        many => (i18n.texts().frame().runs_count)(many.len() as u64),
                    };
                    (
                        fixed_icon(page.entry().icon, 12).into_any(),
                        name.clone(),
                        Some(beside),
                    )
                }
                Hit::Node { path, .. } => (
                    fixed_icon(IconName::Graph, 12).into_any(),
                    path.clone(),
                    None,
                ),
            };
            view! {
                <li role="option" id=format!("hit-{position}") aria-selected=move || {
                    (chosen.get() == position).to_string()
                }>
                    <a class="hit" href=hit.href() on:click=move |_| leave()>
                        {icon}
                        <span class="cut">{name}</span>
                        <span class="cut ink3 beside">{beside}</span>
                    </a>
                </li>
            }
        };
        let section = |heading: &'static str, hits: &[Hit], first: usize| {
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
        };
        let own_run = own_run.get();
        let of = |hit: &Hit| Section::of(hit, own_run.as_deref());
        let mut first = 0;
        let sections = all.chunk_by(|a, b| of(a) == of(b)).map(|hits| {
            let made = section(of(&hits[0]).heading(texts), hits, first);
            first += hits.len();
            made
        });
        view! {
            <ul class="hits" role="listbox" id="search-hits" aria-label=texts.search>
                {sections.collect_view()}
            </ul>
        }
        .into_any()
    };
    let shown = Memo::new(move |_| open.get() && text.with(|text| !text.trim().is_empty()));
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
                    placeholder=i18n.text(|t| t.frame().search)
                    aria-label=i18n.text(|t| t.frame().search)
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
                    on:focus=move |_| {
                        open.set(true);
                        load_tags(state, own_run.get_untracked());
                    }
                    on:blur=move |_| {
                        open.set(false);
                        frame.searching.set(false);
                    }
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

/// Searches tensors in files and graph nodes of the page's run while the user types.
fn search_nodes(state: AppState, text: RwSignal<String>, open: RwSignal<bool>) -> Query<Vec<Hit>> {
    let place = use_place();
    let want = move || {
        let wanted = Words::of(&text.get());
        let run = place.with(|place| place.run().map(str::to_owned))?;
        let is_asked = open.get() && wanted.longest().chars().count() >= NODE_LETTERS;
        let known = is_asked.then(|| state.run(&run)).flatten()?;
        let has = |kind: &str| known.kinds.get(kind).is_some_and(|count| *count > 0);
        let (has_graph, has_tensors) = (has("graphs"), has("tensors"));
        (has_graph || has_tensors).then_some((run, wanted, has_graph, has_tensors))
    };
    let ask = |(run, wanted, has_graph, has_tensors): (String, Words, bool, bool)| async move {
        let (all, wanted) = (&wanted, wanted.longest());
        let mut hits = Vec::new();
        if has_tensors && let Ok(index) = client::tensors_named(&run, &wanted, None).await {
            let tensors = index.tensors.into_iter();
            let tensors = tensors
                .filter(|tensor| all.are_in(&[&tensor.tensor]))
                .take(NODES);
            hits.extend(tensors.map(|tensor| Hit::Tag {
                name: tensor.tensor,
                page: RunPage::Tensors,
                runs: vec![run.clone()],
            }));
        }
        let in_graph = SearchQuery {
            run: run.clone(),
            q: wanted,
            ..SearchQuery::default()
        };
        if has_graph && let Ok(found) = client::graph_search(&in_graph).await {
            let nodes = found.found.into_iter();
            let nodes = nodes.filter(|node| all.are_in(&[&node.path])).take(NODES);
            hits.extend(nodes.map(|node| Hit::Node {
                run: run.clone(),
                path: node.path,
            }));
        }
        Ok(hits)
    };
    query(want, ask)
}

/// Runs in the order of the list, then each known tag once, with all runs that have it.
fn find(state: AppState, own_run: Option<&str>, wanted: &Words) -> Vec<Hit> {
    let list = state.runs.get();
    let named = list.runs.iter().filter(|run| wanted.are_in(&[&run.id]));
    let mut hits: Vec<_> = named
        .take(RUNS)
        .map(|run| Hit::Run(run.id.clone()))
        .collect();
    state.with_tags(|known| {
        let mut found: BTreeMap<(&str, RunPage), Vec<String>> = BTreeMap::new();
        for run in &list.runs {
            let tags = known.get(&run.id).into_iter().flat_map(|list| &list.tags);
            for tag in tags.filter(|tag| wanted.are_in(&[&tag.tag])) {
                let Some(page) = page_of(tag.kind) else {
                    continue;
                };
                let runs = found.entry((&tag.tag, page)).or_default();
                // Ranks, writers and kinds of one page are merged.
                if runs.last() != Some(&run.id) {
                    runs.push(run.id.clone());
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by(|((a, a_page), _), ((b, b_page), _)| natural(a, b).then(a_page.cmp(b_page)));
        let found = found.into_iter().map(|((name, page), mut runs)| {
            // The page's run comes first.
            runs.sort_by_key(|run| Some(&**run) != own_run);
            Hit::Tag {
                name: name.to_owned(),
                page,
                runs,
            }
        });
        let (of_run, others): (Vec<Hit>, Vec<Hit>) =
            found.partition(|hit| Section::of(hit, own_run) == Section::OwnTags);
        hits.extend(of_run.into_iter().take(TAGS));
        hits.extend(others.into_iter().take(TAGS));
    });
    hits
}

/// Pages of runs that the words name: those of the page's run by their titles, those of other runs by title and run.
fn pages_of_runs(state: AppState, own_run: Option<&str>, wanted: &Words, i18n: I18n) -> Vec<Hit> {
    let list = state.runs.get();
    let is_own = |run: &&Run| Some(&*run.id) == own_run;
    let this_run = list.runs.iter().filter(is_own);
    let others = list.runs.iter().filter(|run| !is_own(run));
    let hits = this_run.chain(others).flat_map(|run| {
        let named = PAGES.iter().filter(move |entry| {
            let title = format!("{} {}", (entry.title)(i18n.texts()), entry.segment);
            wanted.are_about(&title, &run.id)
        });
        let shown = named.filter(move |entry| state.page_count(run, entry).is_some());
        shown.map(|entry| Hit::RunPage(run.id.clone(), entry.page))
    });
    hits.take(PAGES_OF_RUNS).collect()
}

/// The page that shows tags of a kind.
fn page_of(kind: Kind) -> Option<RunPage> {
    match kind {
        Kind::Graphs | Kind::Lineage => None,
        kind => RunPage::of_kind(kind.as_str()),
    }
}

/// Requests tags when the search begins, of the first runs only: a list of a thousand runs is searched by name at once,
/// and by known tags.
fn load_tags(state: AppState, own_run: Option<String>) {
    const RUNS_ASKED: usize = 50;
    let list = state.runs.get_untracked();
    let first = list.runs.iter().take(RUNS_ASKED);
    let first = first.map(|run| run.id.clone());
    state.load_tags(own_run.into_iter().chain(first), false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_somewhere() {
        let words = Words::of("  Debugger fp16 ");
        assert!(words.are_about("Debugger", "transformer-small/fp16"));
        assert!(
            !words.are_about("Scalars", "debugger/fp16"),
            "a page is named"
        );
        assert!(!words.are_about("Debugger", "bf16"));
        assert!(Words::of("LOSS val").are_in(&["val/Loss"]));
        assert_eq!(words.longest(), "debugger");
    }

    #[test]
    fn what_is_of_the_run_comes_before_the_others() {
        let tag = |run: &str| Hit::Tag {
            name: "conv1".to_owned(),
            page: RunPage::Scalars,
            runs: vec![run.to_owned()],
        };
        let node = Hit::Node {
            run: "own".to_owned(),
            path: "conv1".to_owned(),
        };
        let page = Hit::RunPage("own".to_owned(), RunPage::Graph);
        let mut hits = [
            Hit::Run("conv".to_owned()),
            tag("other"),
            node,
            tag("own"),
            page,
        ];
        hits.sort_by_key(|hit| Section::of(hit, Some("own")));
        let order: Vec<Section> = hits
            .iter()
            .map(|hit| Section::of(hit, Some("own")))
            .collect();
        let expected = [
            Section::Pages,
            Section::OwnTags,
            Section::Nodes,
            Section::Runs,
            Section::Tags,
        ];
        assert_eq!(order, expected);
        assert_eq!(Section::of(&tag("own"), None), Section::Tags);
    }
}
