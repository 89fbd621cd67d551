//! Values of recorded tensors: the list of tensors, the course of one over steps, and slices of it as a table.
//!
//! The address holds tensor, rank, step, slice, comparison and the selected cell.

use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;

mod axes;
mod chart;
mod inspector;
mod list;
mod model;
mod names;
mod steps;
mod table;

use chart::StepChart;
use inspector::Inspector;
use list::TensorList;
use model::Model;
use table::Values;

/// Tensors of the run in the address.
#[component]
pub fn TensorsPage() -> impl IntoView {
    let model = Model::provide();
    let i18n = use_i18n();
    use_keys(move |key, _| match key {
        "ArrowLeft" => model.step_by(-1),
        "ArrowRight" => model.step_by(1),
        "j" => model.tensor_by(1),
        "k" => model.tensor_by(-1),
        _ => false,
    });
    let state = Memo::new(move |_| {
        model.index.with(|index| {
            let is_filtered = !model.search.with(String::is_empty) || model.role.get().is_some();
            index.as_ref().map(|index| index.total > 0 || is_filtered)
        })
    });
    view! {
        {move || match state.get() {
            None => view! { <main class="main" aria-busy="true"></main> }.into_any(),
            Some(false) => {
                view! {
                    <main class="main">
                        <StatePage
                            icon=IconName::Tensors
                            title=i18n.label(|t| t.tensors().none)
                            next=i18n.label(|t| t.tensors().none_next)
                        >
                            ""
                        </StatePage>
                    </main>
                }
                    .into_any()
            }
            Some(true) => {
                view! {
                    <main class="main flush tensors">
                        <TensorList />
                        <section class="mid">
                            <StepChart />
                            <Values />
                        </section>
                        <Inspector />
                    </main>
                }
                    .into_any()
            }
        }}
    }
}
