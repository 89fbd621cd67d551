//! Lineage: many runs by their parameters and results, as parallel coordinates and as a table. Brushes, filter and
//! hidden runs form one selection, which all parts show.
//!
//! Filter, brushes, axes, columns, order, colours, groups and the open panel are in the address. Notes, hidden runs and
//! saved views are in the notebook next to the runs.

use leptos::html::Input;

use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;
use trainscope_web_kit::route;

mod axis;
mod brush;
mod columns;
mod export;
mod filter;
mod front;
mod gesture;
mod gestures;
mod head;
mod health;
mod importance;
mod keyboard;
mod kinds;
mod model;
mod note_cell;
mod order;
mod panels;
mod pareto;
mod plot;
mod scatter;
mod selection;
mod shades;
mod store;
mod suggestions;
mod table;
mod tip;
mod toolbar;
mod view;

use importance::ImportanceCard;
use kinds::Kinds;
use model::{Model, SidePanel, use_model};
use panels::{ColumnsPanel, RowPanel};
use pareto::ParetoCard;
use plot::Plot;
use table::Table;
use toolbar::Toolbar;

/// The lineage page.
#[component]
pub fn LineagePage() -> impl IntoView {
    let model = Model::provide();
    shades::provide();
    let filter = NodeRef::<Input>::new();
    keyboard::listen(filter);
    view! {
        <div class="with-side">
            <main class="main lineage-page">
                <Content filter=filter />
            </main>
            {move || match model.panel.get() {
                Some(SidePanel::Columns) => view! { <ColumnsPanel /> }.into_any(),
                Some(SidePanel::Row(run)) => view! { <RowPanel run=run /> }.into_any(),
                None => ().into_any(),
            }}
        </div>
    }
}

/// Content of the page: the rows, or the reason why they are missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Loading,
    Failed,
    NoRuns,
    Rows,
}

#[component]
fn Content(filter: NodeRef<Input>) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let state = Memo::new(move |_| {
        let has_failed = model.store.error.with(Option::is_some)
            || model.store.columns.error.with(Option::is_some);
        let is_list_empty = model.state.load.get() == Load::Ready(())
            && model.state.runs.with(|list| list.runs.is_empty());
        if is_list_empty {
            State::NoRuns
        } else if model.store.is_ready.get() {
            State::Rows
        } else if has_failed {
            State::Failed
        } else {
            State::Loading
        }
    });
    let has_parameters = Memo::new(move |_| {
        model.columns.with(|columns| {
            let is_parameter = |info: &trainscope_api::table::ColumnInfo| {
                info.group == trainscope_api::table::ColumnGroup::Parameter
            };
            columns.columns.iter().any(is_parameter)
        })
    });
    move || {
        match state.get() {
        State::Loading => view! { <div class="lineage-loading" aria-busy="true"></div> }.into_any(),
        State::Failed => view! {
            <StatePage
                icon=IconName::Gone
                title=i18n.label(|t| t.lineage().failed)
                next=i18n.label(|t| t.lineage().failed_next)
            >
                <div class="acts">
                    <button
                        type="button"
                        class="btn primary"
                        on:click=move |_| {
                            model.store.columns.ask_again();
                            model.store.error.set(None);
                            model.store.need(&[]);
                        }
                    >
                        {i18n.text(|t| t.states().try_again)}
                    </button>
                </div>
            </StatePage>
        }
        .into_any(),
        State::NoRuns => view! {
            <StatePage
                icon=IconName::Lineage
                title=i18n.label(|t| t.lineage().no_runs)
                next=i18n.label(|t| t.lineage().no_runs_next)
            >
                <div class="acts">
                    <a class="btn primary" href=route::runs_href()>{i18n.text(|t| t.states().all_runs)}</a>
                </div>
            </StatePage>
        }
        .into_any(),
        State::Rows => view! {
            <Toolbar filter=filter />
            <Show when=move || { model.view.with(|view| view.len()) == 1 && !model.view.with(|view| view.is_grouped) }>
                <p class="small ink2">{i18n.text(|t| t.lineage().one_run)}</p>
            </Show>
            <Show when=move || !has_parameters.get()>
                <NoParameters />
            </Show>
            <Show when=move || model.is_data.get() fallback=|| view! { <ModelTab /> }>
                <Kinds />
            </Show>
        }
        .into_any(),
    }
    }
}

#[component]
fn ModelTab() -> impl IntoView {
    let model = use_model();
    view! {
        <Show when=move || model.axes.with(|axes| axes.len() > 1)>
            <Plot />
        </Show>
        <Show when=move || { model.pareto.with(Vec::len) == 2 }>
            <ParetoCard />
        </Show>
        <div class="lineage-low">
            <Table />
            <ImportanceCard />
        </div>
    }
}

/// Ways to record parameters: tab and code.
const SNIPPETS: [(&str, &str); 4] = [
    (
        "Rust",
        "let collector = Collector::builder(\"runs/first\")\n    .hyperparameters([(\"lr\", 1e-3.into()), (\"batch\", 64.into())])\n    .start()?;",
    ),
    (
        "PyTorch",
        "writer.add_hparams({\"lr\": 1e-3, \"batch\": 64}, {\"hparam/accuracy\": accuracy})",
    ),
    (
        "MindSpore",
        "collector = SummaryCollector(\"runs/first\", custom_lineage_data={\"lr\": 1e-3, \"batch\": 64})",
    ),
    ("config.yaml", "lr: 1e-3\nbatch: 64"),
];

/// Instructions if no run has a parameter.
#[component]
fn NoParameters() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let chosen = RwSignal::new(0_usize);
    let tabs = SNIPPETS.iter().enumerate().map(|(index, (tab, _))| {
        view! {
            <button
                type="button"
                role="tab"
                aria-selected=move || (chosen.get() == index).to_string()
                on:click=move |_| chosen.set(index)
            >
                {*tab}
            </button>
        }
    });
    let code = move || SNIPPETS.get(chosen.get()).map(|(_, code)| *code);
    view! {
        <section class="card no-parameters">
            <p class="med">{i18n.text(|t| t.lineage().no_parameters)}</p>
            <p class="small ink2">{i18n.text(|t| t.lineage().no_parameters_next)}</p>
            <div class="tabs" role="tablist">{tabs.collect_view()}</div>
            <pre class="snippet" role="tabpanel">{code}</pre>
        </section>
    }
}
