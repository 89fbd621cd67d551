//! The list of runs, with their health, progress and links.
//!
//! Filter, sort, folding, selection and the open panel are in the address. Notes and hidden runs are in the notebook
//! next to the runs.

use trainscope_web_kit::frame_state::FrameState;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::location::{History, use_address};
use trainscope_web_kit::parameters::RunsPanel;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;
use trainscope_web_kit::route;

mod columns;
mod columns_panel;
mod filter;
mod layout;
mod metrics;
mod model;
mod noting;
mod order;
mod pace;
mod panel;
mod record;
mod row;
mod run_state;
mod selection;
mod slots;
mod spark;
mod sparks;
mod states;
mod suggestions;
mod table;
#[cfg(test)]
mod test_runs;
mod toolbar;

use columns_panel::ColumnsPanel;
use model::{Model, use_model};
use panel::FilesPanel;
use record::RecordPanel;
use sparks::Sparks;
use states::{Content, ServerNotes, StrayNotes};
use toolbar::Toolbar;

/// The list of runs.
#[component]
pub fn RunsPage() -> impl IntoView {
    let model = Model::provide();
    Sparks::provide();
    listen();
    view! {
        <div class="with-side">
            <main class="main runs-page">
                // Shown while the list loads, since the list would move otherwise.
                <Show when=move || {
                    model.state.load.get() != Load::Ready(())
                        || model.state.runs.with(|list| !list.runs.is_empty())
                }>
                    <Toolbar />
                </Show>
                <ServerNotes />
                <StrayNotes />
                <Content />
            </main>
            {move || match model.panel.get() {
                Some(RunsPanel::Files(run)) => view! { <FilesPanel run=run /> }.into_any(),
                Some(RunsPanel::Columns) => view! { <ColumnsPanel /> }.into_any(),
                Some(RunsPanel::Record) => view! { <RecordPanel /> }.into_any(),
                None => ().into_any(),
            }}
        </div>
    }
}

/// Keys of this page.
fn listen() {
    let model = use_model();
    let address = use_address();
    let frame: FrameState = expect_context();
    use_keys(move |key, _| {
        let panel_open =
            model.panel.with_untracked(Option::is_some) || frame.panel.get_untracked().is_some();
        let open = |href: &str| address.go(href, History::Push);
        match key {
            "j" => model.move_cursor(1),
            "k" => model.move_cursor(-1),
            "x" => {
                if let Some(run) = model.cursor.get_untracked() {
                    model.toggle_selected(&run);
                }
            }
            "Enter" => {
                let Some(run) = model.cursor.get_untracked() else {
                    return false;
                };
                open(&route::overview_href(&run));
            }
            "c" | "s" => {
                let href = if key == "c" {
                    model.compare_href()
                } else {
                    model.together_href()
                };
                let Some(href) = href else { return false };
                open(&href);
            }
            "Escape" if !panel_open => {
                if model.selected.with_untracked(Vec::is_empty) {
                    model.cursor.set(None);
                } else {
                    model.select(&[]);
                }
            }
            _ => return false,
        }
        true
    });
}
