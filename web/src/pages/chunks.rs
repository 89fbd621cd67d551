//! The pages on demand: the code of each is in separate files, which are loaded when the page is opened.

use leptos::task::spawn_local;
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use crate::panels::OpenPanel;
use trainscope_pages_judged::{
    DebuggerPage, GraphPage, OverviewPage, PipelinePage, SessionBar, TensorsPage,
};
use trainscope_pages_profiles::{ProfilePage, TimelinePage};
use trainscope_pages_records::{HistogramsPage, LandscapePage, RecordedPage, ScalarsPage};
use trainscope_pages_runs::{ComparePage, LineagePage, RunsPage};
use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::{Chunk, Page, RunPage};

/// The view of a page, or the failure to fetch its code.
type Code = Result<AnyView, SplitLoaderError>;

macro_rules! chunks {
    ($($chunk:ident, $view:ident, $fetch:ident, $page:expr;)*) => {
        async fn fetch_code(chunk: Chunk) -> Result<(), SplitLoaderError> {
            match chunk {
                $(Chunk::$chunk => $fetch().await,)*
            }
        }

        /// The page, whose code must be loaded. `page` tells pages of one kind apart.
        fn view_of(chunk: Chunk, page: Page) -> AnyView {
            match chunk {
                $(Chunk::$chunk => {
                    let view = $view(page);
                    Suspend::new(async move { view.await.ok() }).into_any()
                })*
            }
        }

        $(
            #[wasm_split(
                $view,
                wasm_split_path = ::leptos::wasm_split,
                fallible,
                preload($fetch)
            )]
            fn $view(page: Page) -> Code {
                let view: fn(Page) -> AnyView = $page;
                Ok(view(page))
            }
        )*
    };
}

chunks! {
    Runs, runs, fetch_runs, |_| view! { <RunsPage /> }.into_any();
    Compare, compare, fetch_compare, |_| view! { <ComparePage /> }.into_any();
    Lineage, lineage, fetch_lineage, |_| view! { <LineagePage /> }.into_any();
    Overview, overview, fetch_overview, |_| view! { <OverviewPage /> }.into_any();
    Scalars, scalars, fetch_scalars, |_| view! { <ScalarsPage /> }.into_any();
    Debugger, debugger, fetch_debugger, |_| view! { <DebuggerPage /> }.into_any();
    Graph, graph, fetch_graph, |_| view! { <GraphPage /> }.into_any();
    Histograms, histograms, fetch_histograms, |_| view! { <HistogramsPage /> }.into_any();
    Tensors, tensors, fetch_tensors, |_| view! { <TensorsPage /> }.into_any();
    Recorded, recorded, fetch_recorded, |page| {
        let Page::Run(page) = page else { return ().into_any() };
        view! { <RecordedPage page /> }.into_any()
    };
    Pipeline, pipeline, fetch_pipeline, |_| view! { <PipelinePage /> }.into_any();
    Profile, profile, fetch_profile, |page| {
        let is_alone = page == Page::Run(RunPage::Overview);
        view! { <ProfilePage is_alone /> }.into_any()
    };
    Timeline, timeline, fetch_timeline, |_| view! { <TimelinePage /> }.into_any();
    Landscape, landscape, fetch_landscape, |_| view! { <LandscapePage /> }.into_any();
    Session, session, fetch_session, |_| view! { <SessionBar /> }.into_any();
    Panel, panel, fetch_panel, |_| view! { <OpenPanel /> }.into_any();
}

/// State of the code of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Fetching,
    Ready,
    Failed,
}

/// The chunks that were fetched in this visit, or could not be.
#[derive(Clone, Copy)]
pub struct Chunks(RwSignal<Vec<(Chunk, Progress)>>);

impl Chunks {
    /// Provides them to all pages.
    pub fn provide() {
        provide_context(Self(RwSignal::new(Vec::new())));
    }

    fn progress(self, chunk: Chunk) -> Option<Progress> {
        self.0.with(|all| {
            let of_chunk = all.iter().find(|(known, _)| *known == chunk);
            of_chunk.map(|(_, progress)| *progress)
        })
    }

    fn set(self, chunk: Chunk, progress: Progress) {
        self.0.update(|all| {
            all.retain(|(known, _)| *known != chunk);
            all.push((chunk, progress));
        });
    }

    async fn fetch(self, chunk: Chunk) {
        self.set(chunk, Progress::Fetching);
        let progress = match fetch_code(chunk).await {
            Ok(()) => Progress::Ready,
            Err(_) => Progress::Failed,
        };
        self.set(chunk, progress);
    }
}

/// A page, as soon as its code is loaded.
#[component]
pub fn PageOnDemand(
    page: Page,
    /// The chunk that shows it, if it is not that of the page.
    #[prop(optional)]
    chunk: Option<Chunk>,
) -> impl IntoView {
    let chunks = expect_context::<Chunks>();
    let i18n = use_i18n();
    let live = use_live();
    let chunk = chunk.unwrap_or(Chunk::of(page));
    let fetch = move || spawn_local(chunks.fetch(chunk));
    if untrack(|| chunks.progress(chunk)) != Some(Progress::Ready) {
        fetch();
    }
    let progress = Memo::new(move |_| chunks.progress(chunk));
    move || {
        match progress.get() {
        Some(Progress::Ready) => view_of(chunk, page),
        Some(Progress::Failed) => view! {
            <main class="main">
                <StatePage
                    icon=IconName::Gone
                    title=Signal::derive(move || {
                        let states = i18n.texts().states();
                        if live.is_lost() { states.no_code_offline } else { states.no_code }.to_owned()
                    })
                    next=Signal::derive(move || {
                        let states = i18n.texts().states();
                        if live.is_lost() { states.no_code_offline_next } else { states.no_code_next }.to_owned()
                    })
                >
                    <div class="acts">
                        <button class="btn primary" on:click=move |_| fetch()>
                            {i18n.text(|t| t.states().try_again)}
                        </button>
                    </div>
                </StatePage>
            </main>
        }
        .into_any(),
        Some(Progress::Fetching) | None => {
            view! { <main class="main" aria-busy="true"></main> }.into_any()
        }
    }
    }
}

/// A part beside the page, as soon as its code is loaded; nothing before.
#[component]
pub fn PartOnDemand(chunk: Chunk) -> impl IntoView {
    let chunks = expect_context::<Chunks>();
    let progress = move || chunks.progress(chunk);
    if untrack(progress) != Some(Progress::Ready) {
        spawn_local(chunks.fetch(chunk));
    }
    let is_ready = Memo::new(move |_| progress() == Some(Progress::Ready));
    move || {
        is_ready
            .get()
            .then(|| view_of(chunk, Page::Run(RunPage::Debugger)))
    }
}
